// A session of negentropy (C++, storage::Vector) over two files of `tests.bench.bench_reconcile`.
// Prints one line of JSON: the commit it was built from, and of both sides the processor time of a
// session (the middle of some), bytes and payloads, and the ids that the initiator found.
//
// Build it beside a checkout of github.com/hoytech/negentropy:
//   g++ -std=c++20 -O3 -DCOMMIT="\"$(git -C CHECKOUT rev-parse HEAD)\"" -I CHECKOUT/cpp \
//     tests/bench/limits/negentropy_session.cpp -lcrypto -o negentropy_session
//
// Usage: negentropy_session A.bin B.bin [SESSIONS]

#include <openssl/sha.h>
#include <stdint.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "negentropy.h"
#include "negentropy/storage/Vector.h"

namespace {

const size_t HEADER = 16, ROW = 40;

uint64_t number(const char *at) {
    uint64_t value = 0;
    for (int byte = 7; byte >= 0; byte--) value = value << 8 | static_cast<unsigned char>(at[byte]);
    return value;
}

void fill(negentropy::storage::Vector &set, const char *path) {
    std::ifstream file(path, std::ios::binary);
    std::string data((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (data.substr(0, 8) != "RBSRSET1") throw std::runtime_error("no data set");
    if (data.size() != HEADER + ROW * number(&data[8])) throw std::runtime_error("cut short");
    for (size_t at = HEADER; at < data.size(); at += ROW)
        set.insert(number(&data[at]), std::string_view(data).substr(at + 8, 32));
    set.seal();
}

double processor_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

struct Session {
    double seconds = 0;
    size_t bytes = 0, payloads = 0, have = 0, need = 0;
};

Session run(negentropy::storage::Vector &ours, negentropy::storage::Vector &theirs) {
    Session session;
    std::vector<std::string> have, need;
    double began = processor_seconds();
    Negentropy<negentropy::storage::Vector> initiator(ours), responder(theirs);
    std::optional<std::string> asked = initiator.initiate();
    while (asked) {
        std::string answer = responder.reconcile(*asked);
        session.bytes += asked->size() + answer.size();
        session.payloads += 2;
        asked = initiator.reconcile(answer, have, need);
    }
    session.seconds = processor_seconds() - began;
    session.have = have.size();
    session.need = need.size();
    return session;
}

}  // namespace

int main(int count, char **words) try {
    if (count < 3) throw std::runtime_error("usage: negentropy_session A.bin B.bin [SESSIONS]");
    negentropy::storage::Vector ours, theirs;
    fill(ours, words[1]);
    fill(theirs, words[2]);
    std::vector<Session> sessions(count > 3 ? std::stoul(words[3]) : 5);
    for (Session &session : sessions) session = run(ours, theirs);
    std::sort(sessions.begin(), sessions.end(),
              [](const Session &a, const Session &b) { return a.seconds < b.seconds; });
    const Session &middle = sessions.at(sessions.size() / 2);
    std::cout << "{\"commit\": \"" << COMMIT << "\", \"seconds\": " << middle.seconds
              << ", \"bytes\": " << middle.bytes << ", \"payloads\": " << middle.payloads
              << ", \"have\": " << middle.have << ", \"need\": " << middle.need << "}\n";
} catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
}
