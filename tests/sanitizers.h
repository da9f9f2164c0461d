/* SPDX-License-Identifier: BSD-3-Clause */
/* The sanitizers that the test is built with: 0 or 1. */
#ifndef TESTS_SANITIZERS_H
#define TESTS_SANITIZERS_H

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define TSAN 1
#else
#define TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define ASAN 1
#else
#define ASAN 0
#endif

#endif
