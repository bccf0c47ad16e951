/* Stands for any program: asks the jail how to end and whether to print. Without a C library, so that to start it
 * costs next to nothing. */
static long call(long number, long a, long b, long c) {
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

#if defined(__x86_64__)
enum { WRITE = 1, EXIT = 60 };
#else
enum { WRITE = 64, EXIT = 93 };
#endif

void _start(void) {
    static const char text[] = "pwn planted\n";
    long how = call(1023, 0, 0, 0);
    /* Where all stubs end the same way, the answer comes as an error number. */
    if (how < 0) how = -how;
    if (how & 256) call(WRITE, 1, (long)text, sizeof text - 1);
    for (;;) call(EXIT, how & 255, 0, 0);
}
