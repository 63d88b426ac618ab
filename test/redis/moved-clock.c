/* gettimeofday as seen by one process: the machine's, and as many seconds as the file CLOCK_FILE says.
 * libfaketime does not get along with Redis's jemalloc. Nothing here allocates. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
  int result = (int)syscall(SYS_gettimeofday, tv, tz);
  char *name = getenv("CLOCK_FILE"), text[32];
  int file = name ? open(name, O_RDONLY) : -1;
  if (file < 0) return result;
  ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  if (bytes > 0) {
    text[bytes] = 0;
    tv->tv_sec += atol(text);
  }
  return result;
}
