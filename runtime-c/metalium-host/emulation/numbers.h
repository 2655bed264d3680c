/* What a main program computes of integers, such as masks and angles: the elements of tensors, row by row, in 64 bits. */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <vector>

namespace partita::metalium {

using std::ceil;
using std::cos;
using std::exp;
using std::floor;
using std::sin;
using std::sqrt;
using std::trunc;

/* Converts from the integers of inputs, too. */
class Numbers {
  public:
    explicit Numbers(size_t count) : elements_(count) {}
    Numbers(std::initializer_list<double> elements) : elements_(elements) {}
    template <typename T> Numbers(const std::vector<T> &elements) : elements_(elements.begin(), elements.end()) {}

    size_t size() const { return elements_.size(); }
    const double *data() const { return elements_.data(); }
    double operator[](size_t i) const { return elements_[i]; }
    double &operator[](size_t i) { return elements_[i]; }

  private:
    std::vector<double> elements_;
};

inline constexpr double inf = std::numeric_limits<double>::infinity();

template <typename Element> Numbers numbers(size_t count, Element element)
{
    Numbers all(count);
    for (size_t i = 0; i < count; i++) {
        all[i] = element(i);
    }
    return all;
}

inline double f32(double x)
{
    return static_cast<float>(x);
}

/* Rounds an f32 to nearest, ties to even. */
inline double bf16(double x)
{
    float rounded = static_cast<float>(x);
    uint32_t bits = 0;
    std::memcpy(&bits, &rounded, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    std::memcpy(&rounded, &bits, sizeof rounded);
    return rounded;
}

inline int64_t whole(double x)
{
    return static_cast<int64_t>(x);
}

inline double least(double x, double y)
{
    return std::min(x, y);
}

inline double largest(double x, double y)
{
    return std::max(x, y);
}

inline double choose(bool condition, double x, double y)
{
    return condition ? x : y;
}

inline double quotient(double x, double y)
{
    return x / y;
}

/* What is added to a score: the matrix engine holds few bits of large numbers. */
inline double term_of(double x)
{
    if (x == -inf) {
        return -0x1.fep127;
    }
    return x < -0x1p16 ? -0x1p64 : x;
}

inline double term_of_flag(bool x)
{
    return x ? 0 : -0x1.fep127;
}

/* Elements at the sums of steps in all dimensions. */
inline Numbers view(const Numbers &x, const std::vector<size_t> &extents, const std::vector<int64_t> &steps, int64_t start)
{
    std::vector<int64_t> places = {start};
    for (size_t dim = 0; dim < extents.size(); dim++) {
        std::vector<int64_t> next;
        for (const int64_t place : places) {
            for (size_t i = 0; i < extents[dim]; i++) {
                next.push_back(place + static_cast<int64_t>(i) * steps[dim]);
            }
        }
        places = std::move(next);
    }
    return numbers(places.size(), [&](size_t i) { return x[places[i]]; });
}

/* Elements of several tensors, one after the other, by their places. */
inline Numbers pick(const std::vector<Numbers> &tensors, const Numbers &places)
{
    std::vector<double> elements;
    for (const Numbers &tensor : tensors) {
        elements.insert(elements.end(), tensor.data(), tensor.data() + tensor.size());
    }
    return numbers(places.size(), [&](size_t i) { return elements[whole(places[i])]; });
}

/* Sums of the elements so far, along a dimension of an extent and a step. */
inline Numbers running_sums(const Numbers &x, size_t extent, size_t step, bool is_exclusive, bool is_reverse)
{
    Numbers sums(x.size());
    for (size_t first = 0; first < x.size(); first++) {
        if (first / step % extent != 0) {
            continue;
        }
        double total = 0;
        for (size_t i = 0; i < extent; i++) {
            const size_t place = first + (is_reverse ? extent - 1 - i : i) * step;
            sums[place] = is_exclusive ? total : total + x[place];
            total += x[place];
        }
    }
    return sums;
}

/* The places of the largest or least elements along a dimension of an extent and a step. */
inline Numbers places_of_best(const Numbers &x, size_t extent, size_t step, bool is_largest, bool is_last)
{
    std::vector<double> places;
    for (size_t first = 0; first < x.size(); first++) {
        if (first / step % extent != 0) {
            continue;
        }
        size_t best = 0;
        for (size_t i = 1; i < extent; i++) {
            const double element = x[first + i * step];
            const double most = x[first + best * step];
            if ((is_largest ? element > most : element < most) || (is_last && element == most)) {
                best = i;
            }
        }
        places.push_back(static_cast<double>(best));
    }
    return places;
}

} // namespace partita::metalium
