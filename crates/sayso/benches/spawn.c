/* Starts programs again and again, from spawn to exit, and prints what they took.
 *
 *   spawn COUNT INPUT PROGRAM ARGUMENT... [-- [+INPUT] PROGRAM ARGUMENT...]...
 *
 * Each program in turn, COUNT times, with the content of INPUT on a pipe, or of its own +INPUT. A line for each: median wall time and median
 * CPU time in microseconds, largest resident set in KiB, median page faults, and the last exit status. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 16

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *list, int count) {
  qsort(list, count, sizeof *list, ascending);
  return list[count / 2];
}

static char input[MOST][65536];

static ssize_t content(const char *path, char *into) {
  int file = open(path, O_RDONLY);
  ssize_t length = file < 0 ? -1 : read(file, into, sizeof *input);
  close(file);
  return length;
}

int main(int argc, char **argv) {
  if (argc < 4) return 1;
  int count = atoi(argv[1]), programs = 0, status[MOST] = {0};
  char **program[MOST];
  ssize_t length[MOST];
  program[programs++] = argv + 3;
  for (int at = 3; at < argc; at++)
    if (!strcmp(argv[at], "--") && programs < MOST) {
      argv[at] = NULL;
      program[programs++] = argv + at + 1;
    }
  for (int p = 0; p < programs; p++) {
    int own = program[p][0] && program[p][0][0] == '+';
    length[p] = content(own ? program[p][0] + 1 : argv[2], input[p]);
    program[p] += own;
    if (length[p] < 0 || count < 1 || !program[p][0]) return 1;
  }
  double *wall[MOST], *cpu[MOST], *faults[MOST];
  long memory[MOST] = {0};
  for (int p = 0; p < programs; p++) {
    wall[p] = malloc(count * sizeof(double));
    cpu[p] = malloc(count * sizeof(double));
    faults[p] = malloc(count * sizeof(double));
  }
  int nothing = open("/dev/zero", O_WRONLY); // not the null device: a hook refuses calls whose answer nobody can hear
  for (int n = 0; n < count; n++)
    for (int p = 0; p < programs; p++) {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC)) return 1;
      if (write(ends[1], input[p], length[p]) != length[p]) return 1;
      close(ends[1]);
      struct timespec before, after;
      struct rusage used;
      clock_gettime(CLOCK_MONOTONIC, &before);
      pid_t child = vfork();
      if (!child) {
        dup2(ends[0], 0);
        dup2(nothing, 1);
        dup2(nothing, 2);
        execv(program[p][0], program[p]);
        _exit(127);
      }
      wait4(child, &status[p], 0, &used);
      clock_gettime(CLOCK_MONOTONIC, &after);
      close(ends[0]);
      wall[p][n] = (after.tv_sec - before.tv_sec) * 1e6 + (after.tv_nsec - before.tv_nsec) / 1e3;
      cpu[p][n] = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
      faults[p][n] = used.ru_minflt;
      if (used.ru_maxrss > memory[p]) memory[p] = used.ru_maxrss;
    }
  for (int p = 0; p < programs; p++)
    printf("%.1f %.1f %ld %.0f %d\n", median(wall[p], count), median(cpu[p], count), memory[p],
           median(faults[p], count), WIFEXITED(status[p]) ? WEXITSTATUS(status[p]) : -1);
}
