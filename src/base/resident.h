/*
 * resident.h - memory of the process that only its start has needed.
 *
 * why: decision 0416
 */
#ifndef PAWL_BASE_RESIDENT_H
#define PAWL_BASE_RESIDENT_H

/*
 * Give back what starting has left: free memory of the heap, and pages of the program and its
 * libraries that are as they are in their files. Those that are used again come back by themselves.
 * For a process that goes on for long, once it has started.
 */
void resident_trim(void);

#endif
