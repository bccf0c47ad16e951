/* What another process names in its system calls. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* A string of another process; -1 if it cannot be read or is too long. */
static int text_of(pid_t pid, uint64_t address, char *text, size_t room) {
    size_t have = 0;
    while (have < room) {
        size_t step = 4096 - (address + have) % 4096;
        if (step > room - have) step = room - have;
        struct iovec here = {text + have, step}, there = {(void *)(uintptr_t)(address + have), step};
        ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
        if (got <= 0) return -1;
        if (memchr(text + have, 0, (size_t)got)) return 0;
        have += (size_t)got;
    }
    return -1;
}

static int bytes_of(pid_t pid, uint64_t address, void *bytes, size_t length) {
    struct iovec here = {bytes, length}, there = {(void *)(uintptr_t)address, length};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)length ? 0 : -1;
}

static void link_of(const char *link, char *text, size_t room) {
    ssize_t length = readlink(link, text, room - 1);
    text[length < 0 ? 0 : length] = 0;
}

static void folder_of(pid_t pid, int fd, char *text, size_t room) {
    char link[64];
    if (fd == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", pid);
    else snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, fd);
    link_of(link, text, room);
}

/* The path that a call names, absolute, `..` and links as they are. */
static int path_of(pid_t pid, int fd, uint64_t address, char *path, size_t room) {
    static char name[4096];
    if (!address || text_of(pid, address, name, sizeof name) < 0) return -1;
    if (name[0] == '/') {
        snprintf(path, room, "%s", name);
        return 0;
    }
    if (!name[0]) return -1;
    char folder[4200];
    folder_of(pid, fd, folder, sizeof folder);
    if (folder[0] != '/') return -1;
    snprintf(path, room, "%s/%s", strcmp(folder, "/") ? folder : "", name);
    return 0;
}

static int begins(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }
