/* Preloaded into a process: at its n-th call that writes to a file below a folder, the process dies or the call fails.
 * Nothing happens before fault_set is called; fault_calls says how many such calls there were since.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static char folder[4096];
static long fail_at;     /* which call, from 1; 0 for none */
static int fail_with;    /* an errno; 0 to die */

void fault_set(const char* where, long at, int with) {
  snprintf(folder, sizeof folder, "%s", where);
  fail_at = at, fail_with = with;
  atomic_store(&calls, 0);
}

long fault_calls(void) { return atomic_load(&calls); }

static int inside(const char* path) {
  return folder[0] != 0 && path != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int inside_descriptor(int descriptor) {
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(name, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return inside(path);
}

/* Whether this call fails; it may also be the process's last. */
static int fault(void) {
  const long number = atomic_fetch_add(&calls, 1) + 1;
  if (fail_at == 0 || number < fail_at) return 0;
  if (fail_with == 0) kill(getpid(), SIGKILL);
  errno = fail_with; /* a full disk stays full: all later calls fail, too */
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void* data, size_t size) {
  if (inside_descriptor(descriptor) && fault()) return -1;
  return REAL(write)(descriptor, data, size);
}

int fsync(int descriptor) {
  if (inside_descriptor(descriptor) && fault()) return -1;
  return REAL(fsync)(descriptor);
}

int rename(const char* from, const char* to) {
  if (inside(to) && fault()) return -1;
  return REAL(rename)(from, to);
}

int renameat(int at, const char* from, int to_at, const char* to) {
  if (inside(to) && fault()) return -1;
  return REAL(renameat)(at, from, to_at, to);
}

int mkdir(const char* path, mode_t mode) {
  if (inside(path) && fault()) return -1;
  return REAL(mkdir)(path, mode);
}

int unlink(const char* path) {
  if (inside(path) && fault()) return -1;
  return REAL(unlink)(path);
}

static int opening(const char* path, int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT)) && inside(path) && fault(); }

// open and open64 are two symbols of the C library; programs call either.
#define OPENING(name)                                                \
  int name(const char* path, int flags, ...) {                       \
    va_list rest;                                                    \
    va_start(rest, flags);                                           \
    const mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                    \
    if (opening(path, flags)) return -1;                             \
    return REAL(name)(path, flags, mode);                            \
  }
OPENING(open)
OPENING(open64)
