// A workload in C++ on the arguments of one instance, asked line by line as benches/peers/serve.py is.
//   PROGRAM ARGUMENTS.npz ENTRIES.npy
// It writes the derivative entries and answers with its value. Then it answers each line `function N` or `derivative N`
// with the seconds of N calls, on arguments of which one element differs from the last ones.
//
// A workload is a class that is made of `Arguments`, which it reads in each call, as samples change them. It has
// `size_t entries()`, `double value()` and `double gradient(double* out)`, which gives the value as well.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <map>
#include <string>
#include <vector>

using Vec = std::vector<double>;

// One argument: numbers or integers, row by row.
struct Array {
    std::vector<size_t> dims;
    Vec f64;
    std::vector<int64_t> i64;
};

[[noreturn]] inline void fail(const std::string& why) {
    std::cerr << why << std::endl;
    std::exit(1);
}

// An archive of arrays that are not compressed: local headers of 30 bytes, a name, and an .npy file each.
struct Arguments {
    std::map<std::string, Array> arrays;

    explicit Arguments(const char* path) {
        std::FILE* file = std::fopen(path, "rb");
        if (!file) fail(std::string("cannot read ") + path);
        std::string all;
        char part[1 << 16];
        for (size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) all.append(part, n);
        std::fclose(file);
        size_t at = 0;
        while (all.compare(at, 4, "PK\3\4") == 0) {
            const size_t size = word(all, at + 22, 4), name = word(all, at + 26, 2), extra = word(all, at + 28, 2);
            const std::string key = all.substr(at + 30, name - std::strlen(".npy"));
            at += 30 + name + extra;
            arrays[key] = read(all.substr(at, size));
            at += size;
        }
    }

    const double* f64(const char* name) const { return get(name).f64.data(); }
    const int64_t* i64(const char* name) const { return get(name).i64.data(); }
    double number(const char* name) const { return get(name).f64.at(0); }
    size_t size(const char* name) const { return (size_t)get(name).i64.at(0); }
    size_t dim(const char* name, size_t axis) const { return get(name).dims.at(axis); }

  private:
    const Array& get(const char* name) const {
        auto found = arrays.find(name);
        if (found == arrays.end()) fail(std::string("there is no argument ") + name);
        return found->second;
    }
    static size_t word(const std::string& s, size_t at, size_t n) {
        size_t x = 0;
        for (size_t k = 0; k < n; k++) x |= (size_t)(unsigned char)s.at(at + k) << 8 * k;
        return x;
    }
    static Array read(const std::string& npy) {
        const bool is_first_version = npy.at(6) == 1;
        const size_t length = is_first_version ? word(npy, 8, 2) : word(npy, 8, 4), start = is_first_version ? 10 : 12;
        const std::string head = npy.substr(start, length);
        Array a;
        const size_t shape = head.find("'shape': (") + std::strlen("'shape': (");
        size_t n = 1;
        for (const char* c = head.c_str() + shape; *c != ')';) {
            if (*c < '0' || *c > '9') { c++; continue; }
            char* end;
            a.dims.push_back(std::strtoull(c, &end, 10));
            n *= a.dims.back();
            c = end;
        }
        const char* data = npy.data() + start + length;
        if (head.find("<f8") != std::string::npos) {
            a.f64.resize(n);
            std::memcpy(a.f64.data(), data, 8 * n);
        } else if (head.find("<i8") != std::string::npos) {
            a.i64.resize(n);
            std::memcpy(a.i64.data(), data, 8 * n);
        } else {
            fail("expected arrays of f64 or i64, found " + head);
        }
        return a;
    }
};

// Turns the last bit of one element of each array before a sample, and turns it back before the next. Zeros stay: beside
// them lie subnormal numbers, which take longer.
inline void turn(Arguments& arguments, size_t turns) {
    for (auto& [name, array] : arguments.arrays) {
        if (array.f64.empty()) continue;
        double& x = array.f64[turns / 2 % array.f64.size()];
        uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        bits ^= (bits << 1) != 0;
        std::memcpy(&x, &bits, sizeof bits);
    }
}

inline void write_npy(const char* path, const Vec& entries) {
    std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(entries.size()) + ",), }";
    head.resize((head.size() + 11 + 63) / 64 * 64 - 11, ' ');
    head += '\n';
    std::FILE* file = std::fopen(path, "wb");
    if (!file) fail(std::string("cannot write ") + path);
    const unsigned char length[2] = {(unsigned char)(head.size() & 255), (unsigned char)(head.size() >> 8)};
    std::fwrite("\x93NUMPY\1\0", 1, 8, file);
    std::fwrite(length, 1, 2, file);
    std::fwrite(head.data(), 1, head.size(), file);
    std::fwrite(entries.data(), 8, entries.size(), file);
    std::fclose(file);
}

template <class Workload> int serve(int n_words, char** words) {
    if (n_words != 3) fail("expected ARGUMENTS.npz ENTRIES.npy");
    Arguments arguments(words[1]);
    Workload workload(arguments);
    Vec entries(workload.entries());
    double value = workload.gradient(entries.data());
    write_npy(words[2], entries);
    std::printf("{\"version\":\"\",\"formulation\":\"by hand\",\"value\":%.17g,\"compile_s\":0}\n", workload.value());
    std::fflush(stdout);
    double checksum = 0;
    size_t turns = 0;
    std::string which;
    for (long n; std::cin >> which >> n;) {
        turn(arguments, turns++);
        const bool is_function = which == "function";
        using clock = std::chrono::steady_clock;
        const auto start = clock::now();
        const std::clock_t cpu = std::clock();
        for (long k = 0; k < n; k++) value = is_function ? workload.value() : workload.gradient(entries.data());
        const double seconds = std::chrono::duration<double>(clock::now() - start).count();
        const double cpu_seconds = double(std::clock() - cpu) / CLOCKS_PER_SEC;
        checksum += value + entries[turns % entries.size()];
        std::printf("{\"seconds\":%.9g,\"cpu_seconds\":%.9g,\"checksum\":%.17g}\n", seconds, cpu_seconds, checksum);
        std::fflush(stdout);
    }
    return 0;
}
