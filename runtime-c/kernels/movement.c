#include "movement.h"

#include "lines.h"

#define COPY(NAME, T)                                                                                                  \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_copy *copy = arguments;                                                                   \
        const struct partita_range share = partita_share_of(copy->extents, core, cores);                            \
        const int32_t x_step = copy->x_strides[PARTITA_AXES - 1];                                                      \
        const int32_t out_step = copy->out_strides[PARTITA_AXES - 1];                                                  \
        struct partita_lines lines =                                                                                   \
            partita_lines(copy->extents, share, 2, copy->x_strides, copy->out_strides, 0);                             \
        while (partita_next_line(&lines)) {                                                                            \
            const T *restrict x = (const T *)copy->x + lines.offset[0] + lines.first * x_step;                         \
            T *restrict out = (T *)copy->out + lines.offset[1] + lines.first * out_step;                               \
            const int32_t length = lines.length;                                                                       \
            int32_t i = 0;                                                                                             \
            for (; x_step == 1 && out_step == 1 && i + PARTITA_GROUP <= length; i += PARTITA_GROUP) {                  \
                T group[PARTITA_GROUP];                                                                                \
                PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {                                             \
                    group[e] = x[i + e];                                                                               \
                }                                                                                                      \
                PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {                                             \
                    out[i + e] = group[e];                                                                             \
                }                                                                                                      \
            }                                                                                                          \
            for (; i < length; i++) {                                                                                  \
                out[i * out_step] = x[i * x_step];                                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }

COPY(partita_copy_8, uint8_t)
COPY(partita_copy_16, uint16_t)
COPY(partita_copy_32, uint32_t)
COPY(partita_copy_64, uint64_t)

#define GATHER(NAME, T, INDEX)                                                                                         \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_gather *gather = arguments;                                                               \
        const INDEX *indices = gather->indices;                                                                        \
        const int32_t inner = gather->inner;                                                                           \
        const int32_t elements = gather->outer * gather->count * inner;                                                \
        const struct partita_range share = partita_share(elements, 8, core, cores);                                    \
        T *restrict out = gather->out;                                                                                 \
        int32_t to = share.from;                                                                                       \
        while (to < share.to) {                                                                                        \
            const int32_t row = to / inner;                                                                            \
            const int32_t end = (row + 1) * inner < share.to ? (row + 1) * inner : share.to;                           \
            INDEX index = indices[row % gather->count];                                                                \
            index += index < 0 ? gather->extent : 0;                                                                   \
            if (index < 0 || index >= gather->extent) {                                                                \
                while (to < end) {                                                                                     \
                    out[to++] = 0;                                                                                     \
                }                                                                                                      \
            } else {                                                                                                   \
                const int32_t line = row / gather->count * gather->extent + (int32_t)index;                            \
                const T *restrict data = (const T *)gather->data + line * inner - row * inner;                         \
                for (; to < end; to++) {                                                                               \
                    out[to] = data[to];                                                                                \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

GATHER(partita_gather_8_i32, uint8_t, int32_t)
GATHER(partita_gather_16_i32, uint16_t, int32_t)
GATHER(partita_gather_32_i32, uint32_t, int32_t)
GATHER(partita_gather_64_i32, uint64_t, int32_t)
GATHER(partita_gather_8_i64, uint8_t, int64_t)
GATHER(partita_gather_16_i64, uint16_t, int64_t)
GATHER(partita_gather_32_i64, uint32_t, int64_t)
GATHER(partita_gather_64_i64, uint64_t, int64_t)

#define GATHER_ELEMENTS(NAME, T)                                                                                       \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_gather_elements *gather = arguments;                                                      \
        const int32_t inner = gather->inner;                                                                           \
        const int32_t elements = gather->outer * gather->count * inner;                                                \
        const struct partita_range share = partita_share(elements, 8, core, cores);                                    \
        const T *restrict data = gather->data;                                                                         \
        T *restrict out = gather->out;                                                                                 \
        int32_t to = share.from;                                                                                       \
        while (to < share.to) {                                                                                        \
            const int32_t row = to / inner;                                                                            \
            const int32_t start = row / gather->count * gather->extent * inner - row * inner;                          \
            const int32_t end = (row + 1) * inner < share.to ? (row + 1) * inner : share.to;                           \
            for (; to < end; to++) {                                                                                   \
                int64_t index = gather->indices[to];                                                                   \
                index += index < 0 ? gather->extent : 0;                                                               \
                const int32_t is_inside = index >= 0 && index < gather->extent;                                        \
                out[to] = is_inside ? data[start + to + (int32_t)index * inner] : 0;                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

GATHER_ELEMENTS(partita_gather_elements_8, uint8_t)
GATHER_ELEMENTS(partita_gather_elements_16, uint16_t)
GATHER_ELEMENTS(partita_gather_elements_32, uint32_t)
GATHER_ELEMENTS(partita_gather_elements_64, uint64_t)
