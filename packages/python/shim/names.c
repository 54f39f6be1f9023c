/* Names of hosts and services. The kernel looks a name up outside the runtime, under the runtime's
   policy, and this file waits for the reply. Next: shim.h. */
#include "shim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addresses.h"
#include "calls.h"

enum {
    /* The space for the addresses of a name, with spaces between them. */
    REPLY = 4096,
    /* The result of an operation, which the bytes follow. */
    RESULT = sizeof(int32_t),
    MAX_ADDRESSES = 64,
    FOREVER = -1,
};

int h_errno;

int gethostname(char *name, size_t length)
{
    return snprintf(name, length, "coldframe") < (int)length ? 0 : -1;
}


static const struct service {
    const char *name;
    uint16_t port;
    bool udp;
} services[] = {
    { "ftp", 21, false },    { "ssh", 22, false },   { "telnet", 23, false }, { "smtp", 25, false },
    { "domain", 53, false }, { "domain", 53, true }, { "tftp", 69, true },    { "http", 80, false },
    { "pop3", 110, false },  { "ntp", 123, true },   { "imap2", 143, false }, { "ldap", 389, false },
    { "https", 443, false }, { "https", 443, true }, { "imaps", 993, false }, { "pop3s", 995, false },
};

static const struct service *service_named(const char *name, const char *protocol)
{
    for (size_t i = 0; i < sizeof(services) / sizeof(*services); i++)
        if (!strcmp(services[i].name, name) && (!protocol || services[i].udp == !strcmp(protocol, "udp")))
            return &services[i];
    return NULL;
}

/* Reads the code of a failed lookup, for example EAI_AGAIN. */
static int code_of(const char *text)
{
    static const struct {
        const char *name;
        int code;
    } codes[] = {
        { "EAI_AGAIN", EAI_AGAIN },   { "EAI_NONAME", EAI_NONAME }, { "ENOTFOUND", EAI_NONAME },
        { "EAI_NODATA", EAI_NODATA }, { "ENODATA", EAI_NODATA },    { "EAI_FAIL", EAI_FAIL },
        { "EAI_MEMORY", EAI_MEMORY },
    };

    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        if (!strcmp(codes[i].name, text))
            return codes[i].code;
    return EAI_FAIL;
}

static int system_failure(int64_t result)
{
    errno = cf_errno(-result);
    return EAI_SYSTEM;
}

/* The sentence that explains why the last look-up was refused, or empty. */
static char refusal[REPLY];

/* Looks a name up. Writes the addresses with spaces between them. Returns 0, or an EAI code. */
static int look_up(const char *name, int family, char addresses[REPLY])
{
    static const char both[] = "127.0.0.1 ::1", v4[] = "127.0.0.1", v6[] = "::1";
    char event[RESULT + REPLY];
    int32_t result;

    refusal[0] = '\0';
    int64_t operation =
        host_sys(CF_SYS_LOOK_UP, (intptr_t)name, strlen(name), family == AF_INET ? 4 : family == AF_INET6 ? 6 : 0, 0, 0, 0, 0, 0);
    if (operation == -CF_ENOENT)
        return EAI_NONAME;
    if (operation < 0)
        return system_failure(operation);
    if (operation == 0) {
        strcpy(addresses, family == AF_INET ? v4 : family == AF_INET6 ? v6 : both);
        return 0;
    }
    int64_t waited = host_sys_wait(CF_SYS_WAIT_FOR_OPERATION, operation, FOREVER, 0, 0, 0, 0, 0, 0);
    if (waited < 0) {
        host_sys(CF_SYS_CANCEL_LOOK_UP, operation, 0, 0, 0, 0, 0, 0, 0);
        return system_failure(waited);
    }
    int64_t length = host_sys(CF_SYS_TAKE_EVENT, operation, (intptr_t)event, sizeof(event), 0, 0, 0, 0, 0);
    if (length < RESULT || length >= (int64_t)sizeof(event))
        return length < 0 ? system_failure(length) : EAI_FAIL;
    memcpy(&result, event, RESULT);
    memcpy(addresses, event + RESULT, length - RESULT);
    addresses[length - RESULT] = '\0';
    if (result == 0)
        return 0;
    /* The code of a refused look-up is followed by a zero byte and the sentence. */
    size_t code = strlen(addresses) + 1;
    if (code < (size_t)length - RESULT)
        snprintf(refusal, sizeof(refusal), " (%s)", addresses + code);
    return code_of(addresses);
}

static int port_of(const char *service, const struct addrinfo *hints, uint16_t *port)
{
    char *end;

    *port = 0;
    if (!service)
        return 0;
    unsigned long number = strtoul(service, &end, 10);
    if (*service && !*end) {
        if (number > UINT16_MAX)
            return EAI_SERVICE;
        *port = number;
        return 0;
    }
    const struct service *known =
        hints->ai_flags & AI_NUMERICSERV ? NULL : service_named(service, hints->ai_socktype == SOCK_DGRAM ? "udp" : "tcp");
    if (!known)
        return hints->ai_flags & AI_NUMERICSERV ? EAI_NONAME : EAI_SERVICE;
    *port = known->port;
    return 0;
}

typedef struct List {
    struct addrinfo *first, **next;
} List;

static bool append(List *list, const struct sockaddr_storage *address, socklen_t length, int type, int protocol)
{
    struct addrinfo *info = calloc(1, sizeof(*info) + sizeof(*address));

    if (!info)
        return false;
    info->ai_family = address->ss_family;
    info->ai_socktype = type;
    info->ai_protocol = protocol;
    info->ai_addrlen = length;
    info->ai_addr = memcpy(info + 1, address, sizeof(*address));
    *list->next = info;
    list->next = &info->ai_next;
    return true;
}

/* Appends an address once for each type of socket that the caller accepts. */
static int append_address(List *list, const char *text, uint16_t port, const struct addrinfo *hints)
{
    static const struct {
        int type, protocol;
    } types[] = { { SOCK_STREAM, IPPROTO_TCP }, { SOCK_DGRAM, IPPROTO_UDP } };
    struct sockaddr_storage address;
    socklen_t length = cf_ip_address(text, port, &address);

    if (length == 0 || (hints->ai_family != AF_UNSPEC && hints->ai_family != address.ss_family))
        return 0;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (hints->ai_socktype && hints->ai_socktype != types[i].type)
            continue;
        if (hints->ai_protocol && hints->ai_protocol != types[i].protocol)
            continue;
        if (!append(list, &address, length, types[i].type, types[i].protocol))
            return EAI_MEMORY;
    }
    return 0;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *given, struct addrinfo **result)
{
    static const struct addrinfo none = { 0 };
    const struct addrinfo *hints = given ? given : &none;
    struct sockaddr_storage ignored;
    char addresses[REPLY];
    uint16_t port;

    *result = NULL;
    if (!node && !service)
        return EAI_NONAME;
    if (hints->ai_family != AF_UNSPEC && hints->ai_family != AF_INET && hints->ai_family != AF_INET6)
        return EAI_FAMILY;
    if (hints->ai_socktype && hints->ai_socktype != SOCK_STREAM && hints->ai_socktype != SOCK_DGRAM)
        return EAI_SOCKTYPE;
    int error = port_of(service, hints, &port);
    if (error)
        return error;
    if (!node)
        strcpy(addresses, hints->ai_flags & AI_PASSIVE ? "0.0.0.0 ::" : "127.0.0.1 ::1");
    else if (strlen(node) < sizeof(addresses) && cf_ip_address(node, port, &ignored))
        strcpy(addresses, node);
    else if (hints->ai_flags & AI_NUMERICHOST)
        return EAI_NONAME;
    else
        error = look_up(node, hints->ai_family, addresses);
    if (error)
        return error;

    List list = { .next = &list.first };
    char *rest;
    int count = 0;
    for (char *text = strtok_r(addresses, " ", &rest); text && !error && count < MAX_ADDRESSES; count++) {
        error = append_address(&list, text, port, hints);
        text = strtok_r(NULL, " ", &rest);
    }
    if (!error && list.first && node && (hints->ai_flags & AI_CANONNAME)) {
        list.first->ai_canonname = strdup(node);
        error = list.first->ai_canonname ? 0 : EAI_MEMORY;
    }
    if (!error && !list.first)
        error = node ? EAI_NONAME : EAI_FAMILY;
    if (error) {
        freeaddrinfo(list.first);
        return error;
    }
    *result = list.first;
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list) {
        struct addrinfo *next = list->ai_next;
        free(list->ai_canonname);
        free(list);
        list = next;
    }
}

static int put(const char *text, char *buffer, socklen_t length)
{
    if (!buffer || !length)
        return 0;
    return snprintf(buffer, length, "%s", text) < (int)length ? 0 : EAI_OVERFLOW;
}

/* Converts an address to names. The only address with a name is the loopback. */
int getnameinfo(const struct sockaddr *address, socklen_t length, char *host, socklen_t host_length, char *service,
    socklen_t service_length, int flags)
{
    CfAddress text;
    char port[8];

    if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
        return EAI_FAMILY;
    if (cf_address_text(address, length, &text) < 0)
        return EAI_FAMILY;
    text.text[text.length] = '\0';
    bool is_loopback = !strcmp(text.text, "127.0.0.1") || !strcmp(text.text, "::1");
    if (!is_loopback && (flags & NI_NAMEREQD))
        return EAI_NONAME;
    int error = put(is_loopback && !(flags & NI_NUMERICHOST) ? "localhost" : text.text, host, host_length);
    if (error)
        return error;
    snprintf(port, sizeof(port), "%u", text.port);
    const char *name = port;
    for (size_t i = 0; !(flags & NI_NUMERICSERV) && i < sizeof(services) / sizeof(*services); i++)
        if (services[i].port == text.port && services[i].udp == !!(flags & NI_DGRAM))
            name = services[i].name;
    return put(name, service, service_length);
}

static const char *text_of(int error)
{
    switch (error) {
    case EAI_BADFLAGS:
        return "Bad value for ai_flags";
    case EAI_NONAME:
        return "Name or service not known";
    case EAI_AGAIN:
        return "Temporary failure in name resolution";
    case EAI_FAIL:
        return "Non-recoverable failure in name resolution";
    case EAI_NODATA:
        return "No address associated with hostname";
    case EAI_FAMILY:
        return "ai_family not supported";
    case EAI_SOCKTYPE:
        return "ai_socktype not supported";
    case EAI_SERVICE:
        return "Servname not supported for ai_socktype";
    case EAI_MEMORY:
        return "Memory allocation failure";
    case EAI_SYSTEM:
        return "System error";
    case EAI_OVERFLOW:
        return "Argument buffer overflow";
    default:
        return "Unknown error";
    }
}

const char *gai_strerror(int error)
{
    static char text[REPLY + 64];

    snprintf(text, sizeof(text), "%s%s", text_of(error), refusal);
    refusal[0] = '\0';
    return text;
}

/* The reply of the functions that return one host. */
static struct {
    struct hostent entry;
    char name[NI_MAXHOST];
    char bytes[MAX_ADDRESSES][16];
    char *addresses[MAX_ADDRESSES + 1];
    char *aliases[1];
} reply;

static struct hostent *reply_with(const char *name, int family, int count)
{
    snprintf(reply.name, sizeof(reply.name), "%s", name);
    for (int i = 0; i < count; i++)
        reply.addresses[i] = reply.bytes[i];
    reply.addresses[count] = NULL;
    reply.entry = (struct hostent){
        .h_name = reply.name,
        .h_aliases = reply.aliases,
        .h_addrtype = family,
        .h_length = family == AF_INET ? 4 : 16,
        .h_addr_list = reply.addresses,
    };
    return &reply.entry;
}

struct hostent *gethostbyname(const char *name)
{
    struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *list;
    int count = 0, error = getaddrinfo(name, NULL, &hints, &list);

    if (error) {
        h_errno = error == EAI_AGAIN ? TRY_AGAIN
            : error == EAI_NODATA    ? NO_DATA
            : error == EAI_NONAME    ? HOST_NOT_FOUND
                                     : NO_RECOVERY;
        return NULL;
    }
    for (struct addrinfo *info = list; info && count < MAX_ADDRESSES; info = info->ai_next)
        memcpy(reply.bytes[count++], &((struct sockaddr_in *)info->ai_addr)->sin_addr, 4);
    freeaddrinfo(list);
    return reply_with(name, AF_INET, count);
}

struct hostent *gethostbyaddr(const void *address, socklen_t length, int family)
{
    char text[CF_ADDRESS_TEXT];

    if (!inet_ntop(family, address, text, sizeof(text)) || (strcmp(text, "127.0.0.1") && strcmp(text, "::1"))) {
        h_errno = HOST_NOT_FOUND;
        return NULL;
    }
    memcpy(reply.bytes[0], address, length <= 16 ? length : 16);
    return reply_with("localhost", family, 1);
}

static struct servent *service_reply(const struct service *known)
{
    static struct servent entry;
    static char *aliases[1];

    if (!known)
        return NULL;
    entry = (struct servent){ (char *)known->name, aliases, htons(known->port), known->udp ? "udp" : "tcp" };
    return &entry;
}

struct servent *getservbyname(const char *name, const char *protocol)
{
    return service_reply(service_named(name, protocol));
}

struct servent *getservbyport(int port, const char *protocol)
{
    for (size_t i = 0; i < sizeof(services) / sizeof(*services); i++)
        if (htons(services[i].port) == port && (!protocol || services[i].udp == !strcmp(protocol, "udp")))
            return service_reply(&services[i]);
    return NULL;
}

struct protoent *getprotobyname(const char *name)
{
    static struct protoent entry;
    static char *aliases[1];
    static const struct {
        char *name;
        int number;
    } protocols[] = {
        { "ip", IPPROTO_IP },   { "icmp", IPPROTO_ICMP }, { "tcp", IPPROTO_TCP },
        { "udp", IPPROTO_UDP }, { "ipv6", IPPROTO_IPV6 },
    };

    for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++) {
        if (strcmp(protocols[i].name, name))
            continue;
        entry = (struct protoent){ protocols[i].name, aliases, protocols[i].number };
        return &entry;
    }
    return NULL;
}
