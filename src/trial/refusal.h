/*
 * refusal.h - what a case expects to be refused: its start, or signals. Internal to src/trial.
 *
 * why: decision 0190
 */
#ifndef PAWL_TRIAL_REFUSAL_H
#define PAWL_TRIAL_REFUSAL_H

#include "trial/case.h"

/*
 * Add a problem when the start was not refused as it should be; `err` and `findings` say why it was
 * refused. Only for cases with `refused`.
 */
void refusal_check_start(struct arena *mem, const struct trial_case *c, const struct trial *trial,
                         const struct err *err, const struct findings *findings,
                         struct trial_problems *problems);

/* Add a problem for each signal that was not sent, and each that was not refused as it should be. */
void refusal_check_signals(struct arena *mem, const struct trial_case *c, const struct trial *trial,
                           struct trial_problems *problems);

#endif
