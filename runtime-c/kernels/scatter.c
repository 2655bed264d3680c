#include "scatter.h"

#include "float_functions.h"

/* The row of the tile that an index names, which may be outside the tile. */
static inline int64_t place(const struct partita_scatter *scatter, int64_t index)
{
    return index + (index < 0 ? scatter->whole : 0) - scatter->first;
}

/* VALUE joins the old element x and the update y. */
#define SCATTER(NAME, T, VALUE)                                                                                        \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_scatter *scatter = arguments;                                                             \
        const struct partita_range share = partita_share(scatter->extent, 1, core, cores);                             \
        const int32_t inner = scatter->inner;                                                                          \
        const int32_t plane = scatter->extent * inner;                                                                 \
        for (int32_t o = 0; o < scatter->outer; o++) {                                                                 \
            T *restrict out = (T *)scatter->out + o * plane;                                                           \
            if (scatter->data != 0) {                                                                                  \
                const T *restrict data = (const T *)scatter->data + o * plane;                                         \
                for (int32_t i = share.from * inner; i < share.to * inner; i++) {                                      \
                    out[i] = data[i];                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
            for (int32_t i = 0; i < scatter->count; i++) {                                                             \
                const int32_t line = o * scatter->count + i;                                                           \
                const T *restrict updates = (const T *)scatter->updates + line * inner;                                \
                const int64_t *indices = scatter->indices + (scatter->rows ? i : line * inner);                        \
                for (int32_t j = 0; j < inner; j++) {                                                                  \
                    const int64_t to = place(scatter, indices[scatter->rows ? 0 : j]);                                 \
                    if (to >= share.from && to < share.to) {                                                           \
                        const T x = out[(int32_t)to * inner + j];                                                      \
                        const T y = updates[j];                                                                        \
                        (void)x;                                                                                       \
                        out[(int32_t)to * inner + j] = (T)(VALUE);                                                     \
                    } else if (scatter->rows) {                                                                        \
                        break;                                                                                         \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

SCATTER(partita_scatter_8, uint8_t, y)
SCATTER(partita_scatter_16, uint16_t, y)
SCATTER(partita_scatter_32, uint32_t, y)
SCATTER(partita_scatter_64, uint64_t, y)

SCATTER(partita_scatter_add_f32, float, x + y)
SCATTER(partita_scatter_mul_f32, float, x *y)
SCATTER(partita_scatter_min_f32, float, partita_minimum(x, y))
SCATTER(partita_scatter_max_f32, float, partita_maximum(x, y))

SCATTER(partita_scatter_add_i32, int32_t, (uint32_t)x + (uint32_t)y)
SCATTER(partita_scatter_mul_i32, int32_t, (uint32_t)x *(uint32_t)y)
SCATTER(partita_scatter_min_i32, int32_t, x < y ? x : y)
SCATTER(partita_scatter_max_i32, int32_t, x > y ? x : y)

SCATTER(partita_scatter_add_i64, int64_t, (uint64_t)x + (uint64_t)y)
SCATTER(partita_scatter_mul_i64, int64_t, (uint64_t)x *(uint64_t)y)
SCATTER(partita_scatter_min_i64, int64_t, x < y ? x : y)
SCATTER(partita_scatter_max_i64, int64_t, x > y ? x : y)
