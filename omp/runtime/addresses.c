/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries at equal addresses in all ranks. Shared memory may point into them:
 * objects of std:: classes have their virtual functions there, and exceptions
 * their handlers. Ranks that are forked have equal addresses. A process that a
 * launcher has started begins again, without random addresses.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <unistd.h>

/* The variables by which drail_launch_open() finds a launcher. */
static bool is_launched(void)
{
    static const char *const names[] = {"DRAIL_RENDEZVOUS", "PMIX_NAMESPACE",
                                        "PMI_FD"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return true;
    return false;
}

/* Before the constructors of the program, which must run only once. Where it is
 * not permitted, the process goes on: only such pointers are wrong. */
__attribute__((constructor)) static void begin_again(int argc, char **argv,
                                                     char **envp)
{
    int now = personality(0xffffffff);
    (void)argc;
    if (now == -1 || now & ADDR_NO_RANDOMIZE || !is_launched() ||
        personality((unsigned)now | ADDR_NO_RANDOMIZE) == -1)
        return;
    execve("/proc/self/exe", argv, envp);
}
