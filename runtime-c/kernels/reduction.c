#include "reduction.h"

#include "double_functions.h"
#include "float_functions.h"
#include "lines.h"

/* VALUE joins `sum` and x; END computes the result from the sum of `count` elements. */
#define REDUCE(NAME, T, SUM, FIRST, VALUE, END)                                                                        \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_reduce *reduce = arguments;                                                               \
        const struct partita_range share = partita_share(partita_elements(reduce->extents), 1, core, cores);           \
        const int32_t count = partita_elements(reduce->joined_extents);                                                \
        const struct partita_range all = {0, count};                                                                   \
        const int32_t step = reduce->joined_strides[PARTITA_AXES - 1];                                                 \
        const int32_t out_step = reduce->strides[PARTITA_AXES - 1];                                                    \
        struct partita_lines results = partita_lines(reduce->extents, share, 1, reduce->strides, 0, 0);                \
        while (partita_next_line(&results)) {                                                                          \
            for (int32_t i = 0; i < results.length; i++) {                                                             \
                const T *x_start = (const T *)reduce->x + results.offset[0] + (results.first + i) * out_step;          \
                struct partita_lines lines =                                                                           \
                    partita_lines(reduce->joined_extents, all, 1, reduce->joined_strides, 0, 0);                       \
                SUM sum = FIRST;                                                                                       \
                while (partita_next_line(&lines)) {                                                                    \
                    const T *line = x_start + lines.offset[0];                                                         \
                    for (int32_t j = 0; j < lines.length; j++) {                                                       \
                        const T x = line[j * step];                                                                    \
                        sum = VALUE;                                                                                   \
                    }                                                                                                  \
                }                                                                                                      \
                ((T *)reduce->out)[results.position + i] = (T)(END);                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

REDUCE(partita_reduce_sum_f32, float, float, 0, sum + x, sum)
REDUCE(partita_reduce_mean_f32, float, float, 0, sum + x, sum / (float)count)
REDUCE(partita_reduce_product_f32, float, float, 1, sum *x, sum)
REDUCE(partita_reduce_max_f32, float, float, -PARTITA_INFINITY, partita_maximum(sum, x), sum)
REDUCE(partita_reduce_min_f32, float, float, PARTITA_INFINITY, partita_minimum(sum, x), sum)

REDUCE(partita_reduce_sum_f64, double, double, 0, sum + x, sum)
REDUCE(partita_reduce_mean_f64, double, double, 0, sum + x, sum / count)
REDUCE(partita_reduce_product_f64, double, double, 1, sum *x, sum)
REDUCE(partita_reduce_max_f64, double, double, -PARTITA_DOUBLE_INFINITY, partita_double_maximum(sum, x), sum)
REDUCE(partita_reduce_min_f64, double, double, PARTITA_DOUBLE_INFINITY, partita_double_minimum(sum, x), sum)

#define REDUCE_INTEGERS(TYPE, T, SUM, MIN, MAX)                                                                        \
    REDUCE(partita_reduce_sum_##TYPE, T, SUM, 0, sum + (SUM)x, sum)                                                    \
    REDUCE(partita_reduce_mean_##TYPE, T, int64_t, 0, partita_add_wrapping_64(sum, x), count == 0 ? 0 : sum / count)   \
    REDUCE(partita_reduce_product_##TYPE, T, SUM, 1, sum *(SUM)x, sum)                                                 \
    REDUCE(partita_reduce_max_##TYPE, T, T, MIN, x > sum ? x : sum, sum)                                               \
    REDUCE(partita_reduce_min_##TYPE, T, T, MAX, x < sum ? x : sum, sum)

REDUCE_INTEGERS(i8, int8_t, uint32_t, INT8_MIN, INT8_MAX)
REDUCE_INTEGERS(i32, int32_t, uint32_t, INT32_MIN, INT32_MAX)
REDUCE_INTEGERS(i64, int64_t, uint64_t, INT64_MIN, INT64_MAX)
REDUCE(partita_reduce_sum_u64, uint64_t, uint64_t, 0, sum + x, sum)
REDUCE(partita_reduce_mean_u64, uint64_t, uint64_t, 0, sum + x, count == 0 ? 0 : sum / (uint64_t)count)
REDUCE(partita_reduce_product_u64, uint64_t, uint64_t, 1, sum *x, sum)
REDUCE(partita_reduce_max_u64, uint64_t, uint64_t, 0, x > sum ? x : sum, sum)
REDUCE(partita_reduce_min_u64, uint64_t, uint64_t, UINT64_MAX, x < sum ? x : sum, sum)

/* VALUE joins `sum` and x. */
#define CUMULATIVE(NAME, T, SUM, FIRST, VALUE)                                                                         \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_cumulative *line = arguments;                                                             \
        const int32_t inner = line->inner;                                                                             \
        const struct partita_range share = partita_share(line->outer * inner, 1, core, cores);                         \
        const int32_t step = line->reverse ? -inner : inner;                                                           \
        for (int32_t number = share.from; number < share.to; number++) {                                               \
            int32_t place = number / inner * line->extent * inner + number % inner;                                    \
            place += line->reverse ? (line->extent - 1) * inner : 0;                                                   \
            SUM sum = FIRST;                                                                                           \
            for (int32_t i = 0; i < line->extent; i++, place += step) {                                                \
                const SUM before = sum;                                                                                \
                const SUM x = (SUM)((const T *)line->x)[place];                                                        \
                sum = VALUE;                                                                                           \
                ((T *)line->out)[place] = (T)(line->exclusive ? before : sum);                                         \
            }                                                                                                          \
        }                                                                                                              \
    }

#define CUMULATIVES(TYPE, T, SUM)                                                                                      \
    CUMULATIVE(partita_cumulative_sum_##TYPE, T, SUM, 0, sum + x)                                                      \
    CUMULATIVE(partita_cumulative_product_##TYPE, T, SUM, 1, sum *x)

CUMULATIVES(f32, float, float)
CUMULATIVES(i32, int32_t, uint32_t)
CUMULATIVES(i64, int64_t, uint64_t)
CUMULATIVES(f64, double, double)

/* Whether x comes before y: it is better and y isn't NaN, or it alone is NaN. */
#define IS_BETTER(x, y, BETTER) (((x)BETTER(y) && (y) == (y)) || ((x) != (x) && (y) == (y)))
#define IS_EQUAL(x, y) ((x) == (y) || ((x) != (x) && (y) != (y)))

#define ARG_REDUCE(NAME, T, BETTER)                                                                                    \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_arg_reduce *reduce = arguments;                                                           \
        const int32_t inner = reduce->inner;                                                                           \
        const struct partita_range share = partita_share(reduce->outer * inner, 1, core, cores);                       \
        for (int32_t number = share.from; number < share.to; number++) {                                               \
            const T *x = (const T *)reduce->x + number / inner * reduce->extent * inner + number % inner;              \
            T best = x[0];                                                                                             \
            int32_t index = 0;                                                                                         \
            for (int32_t i = 1; i < reduce->extent; i++) {                                                             \
                const T value = x[i * inner];                                                                          \
                if (IS_BETTER(value, best, BETTER) || (reduce->select_last && IS_EQUAL(value, best))) {                \
                    best = value;                                                                                      \
                    index = i;                                                                                         \
                }                                                                                                      \
            }                                                                                                          \
            reduce->out[number] = index;                                                                               \
        }                                                                                                              \
    }

ARG_REDUCE(partita_arg_max_f32, float, >)
ARG_REDUCE(partita_arg_min_f32, float, <)
ARG_REDUCE(partita_arg_max_i8, int8_t, >)
ARG_REDUCE(partita_arg_min_i8, int8_t, <)
ARG_REDUCE(partita_arg_max_i32, int32_t, >)
ARG_REDUCE(partita_arg_min_i32, int32_t, <)
ARG_REDUCE(partita_arg_max_i64, int64_t, >)
ARG_REDUCE(partita_arg_min_i64, int64_t, <)
ARG_REDUCE(partita_arg_max_u64, uint64_t, >)
ARG_REDUCE(partita_arg_min_u64, uint64_t, <)
ARG_REDUCE(partita_arg_max_f64, double, >)
ARG_REDUCE(partita_arg_min_f64, double, <)

/* Whether x sorts before y; NaN is larger than all numbers. */
#define IS_BEFORE(x, y, largest)                                                                                       \
    ((largest) ? ((x) > (y) || ((x) != (x) && (y) == (y))) : ((x) < (y) || ((y) != (y) && (x) == (x))))

#define TOP_K(NAME, T)                                                                                                 \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_top_k *top = arguments;                                                                   \
        const int32_t inner = top->inner;                                                                              \
        const struct partita_range share = partita_share(top->outer * inner, 1, core, cores);                          \
        for (int32_t number = share.from; number < share.to && top->k > 0; number++) {                                 \
            const T *x = (const T *)top->x + number / inner * top->extent * inner + number % inner;                    \
            const int32_t out = number / inner * top->k * inner + number % inner;                                      \
            T *values = (T *)top->values + out;                                                                        \
            int64_t *indices = top->indices + out;                                                                     \
            int32_t count = 0;                                                                                         \
            for (int32_t i = 0; i < top->extent; i++) {                                                                \
                const T value = x[i * inner];                                                                          \
                if (count == top->k && !IS_BEFORE(value, values[(count - 1) * inner], top->largest)) {                 \
                    continue;                                                                                          \
                }                                                                                                      \
                count += count < top->k;                                                                               \
                int32_t place = count - 1;                                                                             \
                for (; place > 0 && IS_BEFORE(value, values[(place - 1) * inner], top->largest); place--) {            \
                    values[place * inner] = values[(place - 1) * inner];                                               \
                    indices[place * inner] = indices[(place - 1) * inner];                                             \
                }                                                                                                      \
                values[place * inner] = value;                                                                         \
                indices[place * inner] = i;                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }

TOP_K(partita_top_k_f32, float)
TOP_K(partita_top_k_i8, int8_t)
TOP_K(partita_top_k_i32, int32_t)
TOP_K(partita_top_k_i64, int64_t)
TOP_K(partita_top_k_u64, uint64_t)
TOP_K(partita_top_k_f64, double)
