/* The clock on the wall as seen by one Java process: the machine's, and MOVED_SECONDS more. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long moved_seconds(void) {
  const char *text = getenv("MOVED_SECONDS");
  return text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += moved_seconds();
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int result = (int)syscall(SYS_gettimeofday, now, zone);
  if (result == 0) now->tv_sec += moved_seconds();
  return result;
}
