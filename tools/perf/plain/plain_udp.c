/* A ping-pong of datagrams, as plain as it goes: what whimbrel-perf's own row of the raw socket is
 * judged by. Speaks the lines of the bench: SIZE COUNT WARM, answered by rtt_ns and round trips. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"

enum { PORT = 18400, AROUND = 68, ROOM = 65536 };

static const char *option(int count, char **words, const char *key)
{
    for (int at = 1; at + 1 < count; at++)
        if (strcmp(words[at], key) == 0)
            return words[at + 1];
    fprintf(stderr, "plain_udp: %s is missing\n", key);
    exit(2);
}

static struct sockaddr_in address(const char *text, int port)
{
    struct sockaddr_in it = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, text, &it.sin_addr) != 1) {
        fprintf(stderr, "plain_udp: no address: %s\n", text);
        exit(2);
    }
    return it;
}

static void say(const char *line)
{
    puts(line);
    fflush(stdout);
}

static int pong(int handle)
{
    static char room[ROOM];
    say("ready");
    for (;;) {
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(handle, room, sizeof room, 0, (struct sockaddr *)&from, &length);
        if (got < 0)
            return 1;
        sendto(handle, room, (size_t)got, 0, (struct sockaddr *)&from, length);
    }
}

static int ping(int handle, struct sockaddr_in to)
{
    static char sent[ROOM], room[ROOM];
    long size, count, warm;
    memset(sent, 0x55, sizeof sent);
    watch_counter();
    say("ready");
    while (scanf("%ld %ld %ld", &size, &count, &warm) == 3) {
        uint64_t *ns = calloc((size_t)count + 1, sizeof *ns);
        if (size < 0 || size + AROUND > 65507 || ns == NULL)
            return 2;
        for (long turn = 0; turn < warm + count; turn++) {
            uint64_t begun = now_ns();
            if (sendto(handle, sent, (size_t)size + AROUND, 0, (struct sockaddr *)&to, sizeof to) < 0 ||
                recvfrom(handle, room, sizeof room, 0, NULL, NULL) < 0)
                return 1;
            if (turn >= warm)
                ns[turn - warm] = now_ns() - begun;
        }
        printf("rtt_ns");
        for (long at = 0; at < count; at++)
            printf(" %llu", (unsigned long long)ns[at]);
        say("");
        free(ns);
    }
    return 0;
}

int main(int count, char **words)
{
    int pongs = count > 2 && strcmp(words[2], "pong") == 0;
    int port = PORT + atoi(option(count, words, "--domain"));
    int handle = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in here = address(option(count, words, "--address"), pongs ? port : 0);
    if (handle < 0 || bind(handle, (struct sockaddr *)&here, sizeof here) != 0) {
        perror("plain_udp");
        return 2;
    }
    return pongs ? pong(handle) : ping(handle, address(option(count, words, "--peer"), port));
}
