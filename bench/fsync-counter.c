// Loaded into workerd (LD_PRELOAD) by bench/side.mjs: counts what waits for the disk, in eight bytes of the file that
// FSYNC_COUNTER names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t *count;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FSYNC_COUNTER");
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) count = mapped;
  close(file);
}

static int counted(const char *name, int file) {
  if (count) __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return counted("fsync", file); }
int fdatasync(int file) { return counted("fdatasync", file); }
