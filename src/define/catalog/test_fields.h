/*
 * test_fields.h - the names of what a case of a test may have, for whoever reads
 * cases (src/trial) and for the JSON Schema of editors.
 */
#ifndef PAWL_DEFINE_CATALOG_TEST_FIELDS_H
#define PAWL_DEFINE_CATALOG_TEST_FIELDS_H

/* Of a case. */
#define CASE_FIELDS                                                                                \
    "name description scenario schema machine procedure input key user config records mocks "      \
    "signals "                                                                                     \
    "operator "                                                                                    \
    "cancel now webhook expect"

/* Of its `expect`. */
#define EXPECT_FIELDS                                                                              \
    "status result error waitingFor steps commands context records logs messages children "        \
    "deadLetters calls duration refused"

#endif
