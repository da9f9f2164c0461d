/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors that the runtime has opened in this rank, such as sockets. The
 * program does not know them, so it means another rank's file if it uses one.
 */
#ifndef OMP_RUNTIME_DESCRIPTORS_H
#define OMP_RUNTIME_DESCRIPTORS_H

/* Before the runtime opens any: those that are open are the program's. */
void descriptors_of_program(void);
/* Before the program's main begins: the others are the runtime's. */
void descriptors_of_runtime(void);

#endif
