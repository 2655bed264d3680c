#include "convolution_bytes.h"
#include "convolution_window.h"
#include "requantized.h"

/* Keeps the sums in registers: otherwise GCC keeps an address for each element there. */
#if defined(__GNUC__) && !defined(__clang__)
#define BLOCKED __attribute__((noinline, optimize("O2", "no-schedule-insns", "no-schedule-insns2", "no-tree-pre")))
#else
#define BLOCKED __attribute__((noinline))
#endif

/* Neighbouring windows, of which only the rows `down` of elements count. */
struct windows {
    struct partita_range down;
    int32_t left;  /* the column of the first one's first element */
    int32_t count; /* of windows, at most PARTITA_BLOCK */
};

/* Whether all elements of whole blocks of windows are data. */
static inline int32_t are_inside(const struct partita_window *window, const struct windows *at)
{
    const int32_t last =
        at->left + (PARTITA_BLOCK - 1) * window->stride_x + (window->kernel_x - 1) * window->dilation_x;
    return at->count == PARTITA_BLOCK && at->left >= 0 && last < window->width;
}

/*
 * The sums of a block of filters, four or one, by windows: each element of data meets all filters, and each weight all
 * windows. x and weight are at the first row that counts. ADD adds a product to a SUM. Loads are between products, for
 * the reason of gemm_f32.c.
 */
#define SUMS(NAME, IN, WEIGHT, SUM, ADD)                                                                               \
    PARTITA_INLINE void NAME##_block(const struct partita_convolution *convolution, const IN *x, const WEIGHT *weight, \
                                     const struct windows *at, int32_t filters, int32_t is_clipped,                    \
                                     SUM sums[PARTITA_BLOCK][PARTITA_BLOCK])                                           \
    {                                                                                                                  \
        const struct partita_window *window = &convolution->window;                                                    \
        const int32_t width = window->width;                                                                           \
        const int32_t stride = window->stride_x;                                                                       \
        const int32_t dilation = window->dilation_x;                                                                   \
        const int32_t line = window->dilation_y * width;                                                               \
        const int32_t rows = at->down.to - at->down.from;                                                              \
        const int32_t plane = window->height * width - rows * line;                                                    \
        const int32_t elements = window->kernel_y * window->kernel_x;                                                  \
        const int32_t skipped = elements - rows * window->kernel_x;                                                    \
        const int32_t filter = convolution->channels * elements;                                                       \
        const int32_t whole = at->count < PARTITA_BLOCK ? 0 : width - (PARTITA_BLOCK - 1) * stride;                    \
        SUM own[PARTITA_BLOCK][PARTITA_BLOCK];                                                                         \
        PARTITA_UNROLLED (int32_t f = 0; f < filters; f++) {                                                           \
            PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                                 \
                own[f][i] = 0;                                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        for (int32_t c = convolution->channels; c > 0; c--) {                                                          \
            for (int32_t ky = rows; ky > 0; ky--) {                                                                    \
                const WEIGHT *factors = weight;                                                                        \
                int32_t from = at->left;                                                                               \
                for (int32_t kx = window->kernel_x; kx > 0; kx--) {                                                    \
                    const IN *values = x + from;                                                                       \
                    SUM y[PARTITA_BLOCK];                                                                              \
                    PARTITA_UNROLLED (int32_t f = 0; f < filters; f++) {                                               \
                        y[f] = (SUM)factors[f * filter];                                                               \
                    }                                                                                                  \
                    if (!is_clipped || (from >= 0 && from < whole)) {                                                  \
                        SUM next = (SUM)*values;                                                                       \
                        PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                     \
                            const SUM value = next;                                                                    \
                            own[0][i] = ADD(own[0][i], value, y[0]);                                                   \
                            if (i + 1 < PARTITA_BLOCK) {                                                               \
                                values += stride;                                                                      \
                                next = (SUM)*values;                                                                   \
                            }                                                                                          \
                            PARTITA_UNROLLED (int32_t f = 1; f < filters; f++) {                                       \
                                own[f][i] = ADD(own[f][i], value, y[f]);                                               \
                            }                                                                                          \
                        }                                                                                              \
                    } else {                                                                                           \
                        PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                     \
                            if ((uint32_t)(from + i * stride) < (uint32_t)width && i < at->count) {                    \
                                const SUM value = (SUM)values[i * stride];                                             \
                                PARTITA_UNROLLED (int32_t f = 0; f < filters; f++) {                                   \
                                    own[f][i] = ADD(own[f][i], value, y[f]);                                           \
                                }                                                                                      \
                            }                                                                                          \
                        }                                                                                              \
                    }                                                                                                  \
                    from += dilation;                                                                                  \
                    factors++;                                                                                         \
                }                                                                                                      \
                x += line;                                                                                             \
                weight += window->kernel_x;                                                                            \
            }                                                                                                          \
            x += plane;                                                                                                \
            weight += skipped;                                                                                         \
        }                                                                                                              \
        PARTITA_UNROLLED (int32_t f = 0; f < filters; f++) {                                                           \
            PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                                 \
                sums[f][i] = own[f][i];                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    BLOCK(NAME##_four, NAME, IN, WEIGHT, SUM, PARTITA_BLOCK, 0)                                                        \
    BLOCK(NAME##_four_clipped, NAME, IN, WEIGHT, SUM, PARTITA_BLOCK, 1)                                                \
    BLOCK(NAME##_one, NAME, IN, WEIGHT, SUM, 1, 0)                                                                     \
    BLOCK(NAME##_one_clipped, NAME, IN, WEIGHT, SUM, 1, 1)                                                             \
                                                                                                                       \
    static inline void NAME##_sums(const struct partita_convolution *convolution, const IN *x, const WEIGHT *weight,   \
                                   const struct windows *at, int32_t filters,                                          \
                                   SUM sums[PARTITA_BLOCK][PARTITA_BLOCK])                                             \
    {                                                                                                                  \
        if (are_inside(&convolution->window, at)) {                                                                    \
            if (filters == PARTITA_BLOCK) {                                                                            \
                NAME##_four(convolution, x, weight, at, sums);                                                         \
            } else {                                                                                                   \
                NAME##_one(convolution, x, weight, at, sums);                                                          \
            }                                                                                                          \
        } else if (filters == PARTITA_BLOCK) {                                                                         \
            NAME##_four_clipped(convolution, x, weight, at, sums);                                                     \
        } else {                                                                                                       \
            NAME##_one_clipped(convolution, x, weight, at, sums);                                                      \
        }                                                                                                              \
    }

#define BLOCK(NAME, OF, IN, WEIGHT, SUM, FILTERS, IS_CLIPPED)                                                          \
    static BLOCKED void NAME(const struct partita_convolution *convolution, const IN *x, const WEIGHT *weight,         \
                             const struct windows *at, SUM sums[PARTITA_BLOCK][PARTITA_BLOCK])                         \
    {                                                                                                                  \
        OF##_block(convolution, x, weight, at, FILTERS, IS_CLIPPED, sums);                                             \
    }

/*
 * A 1x1 convolution is computed as one over a single line of all planes, whose windows have elements a plane apart: so
 * the loop over channels is the inner one, and blocks of windows don't end with lines.
 */
static struct partita_convolution straightened(const struct partita_convolution *convolution)
{
    struct partita_convolution straight = *convolution;
    struct partita_window *window = &straight.window;
    const int32_t elements = window->kernel_y * window->kernel_x;
    const int32_t steps = window->stride_y * window->stride_x;
    const int32_t padding = window->low_y | window->low_x | window->high_y | window->high_x;
    const int32_t plane = window->height * window->width;
    if (elements == 1 && steps == 1 && padding == 0 && plane == window->out_height * window->out_width) {
        window->dilation_x = plane;
        window->kernel_x = convolution->channels;
        window->width = plane * convolution->channels;
        window->height = 1;
        window->out_width = plane;
        window->out_height = 1;
        straight.channels = 1;
    }
    return straight;
}

/* The most places of a row that are computed at a time: so cores share the row of a convolution of a line. */
enum { STRETCH = 32 };

/*
 * A core's part of the result: stretches of rows of planes, of all filters of a group or, if `each` isn't 0, of four of
 * them or, the last ones, one. Stretches of a row are consecutive, then rows, filters, groups and images.
 */
struct stretches {
    int32_t count;  /* of stretches, this one among them */
    int32_t size;   /* of a stretch, in places */
    int32_t each;   /* whether filters are apart */
    int32_t place;  /* of the row */
    int32_t row;    /* of the result's planes */
    int32_t filter; /* the first one, of all groups */
    int32_t filters;
    int32_t rest;  /* the filters of the group from the first one on */
    int32_t group; /* of all images */
};

static inline int32_t filters_of(const struct stretches *own)
{
    return !own->each ? own->rest : own->rest < PARTITA_BLOCK ? 1 : PARTITA_BLOCK;
}

static struct stretches stretches_of(const struct partita_convolution *convolution, int32_t size, int32_t each,
                                     int32_t core, int32_t cores)
{
    const int32_t height = convolution->window.out_height;
    const int32_t filters = convolution->filters / convolution->groups;
    const int32_t whole = filters / PARTITA_BLOCK;
    const int32_t blocks = !each ? 1 : whole + filters % PARTITA_BLOCK;
    const int32_t across = (convolution->window.out_width + size - 1) / size;
    const struct partita_range share =
        partita_share(convolution->batch * convolution->groups * blocks * height * across, 1, core, cores);
    struct stretches own = {.count = share.to - share.from, .size = size, .each = each};
    if (own.count > 0) {
        const int32_t row = share.from / across;
        const int32_t block = row / height;
        const int32_t number = block % blocks;
        const int32_t before = number < whole ? number * PARTITA_BLOCK : whole * PARTITA_BLOCK + number - whole;
        own.place = (share.from - row * across) * size;
        own.row = row - block * height;
        own.group = block / blocks;
        own.filter = own.group % convolution->groups * filters + before;
        own.rest = filters - before;
        own.filters = filters_of(&own);
    }
    return own;
}

static __attribute__((noinline)) void next_stretch(const struct partita_convolution *convolution,
                                                   struct stretches *own)
{
    own->count--;
    own->place += own->size;
    if (own->place < convolution->window.out_width) {
        return;
    }
    own->place = 0;
    own->row++;
    if (own->row < convolution->window.out_height) {
        return;
    }
    own->row = 0;
    own->filter += own->filters;
    own->rest -= own->filters;
    if (own->rest == 0) {
        own->rest = convolution->filters / convolution->groups;
        own->group++;
        own->filter = own->filter == convolution->filters ? 0 : own->filter;
    }
    own->filters = filters_of(own);
}

/* The result of a stretch's first filter, at the start of its row. */
static inline int32_t result_of(const struct partita_convolution *convolution, const struct stretches *own)
{
    const struct partita_window *window = &convolution->window;
    const int32_t image = convolution->batch == 1 ? 0 : own->group / convolution->groups;
    const int32_t plane = image * convolution->filters + own->filter;
    return (plane * window->out_height + own->row) * window->out_width;
}

/*
 * The place of a block of windows in a row: the last block has as many as others, if a row has. It stores only its own
 * results, from the place it had on.
 */
static inline int32_t block_place(const struct partita_window *window, int32_t place)
{
    const int32_t last = window->out_width - PARTITA_BLOCK;
    return place > last && last > 0 ? last : place;
}

/*
 * FINISH(operation, filter, filters, sums, step, count, out) adds the bias to `count` sums of each of so many filters,
 * `step` apart, and stores their results.
 * DIRECT: with the sums of SUMS.
 */
#define DIRECT(NAME, SUM_NAME, IN, WEIGHT, SUM, ARGUMENTS, OUT, FINISH)                                                \
    static void NAME(const struct ARGUMENTS *operation, const struct partita_convolution *convolution, int32_t core,   \
                     int32_t cores)                                                                                    \
    {                                                                                                                  \
        const struct partita_window *window = &convolution->window;                                                    \
        const int32_t plane = window->height * window->width;                                                          \
        const int32_t size = convolution->channels * window->kernel_y * window->kernel_x;                              \
        struct stretches own = stretches_of(convolution, STRETCH, 1, core, cores);                                     \
        for (; own.count > 0; next_stretch(convolution, &own)) {                                                       \
            const int32_t top = own.row * window->stride_y - window->low_y;                                            \
            struct windows at = {.down = inside(top, window->kernel_y, window->dilation_y, window->height)};           \
            const IN *line = (const IN *)convolution->x + own.group * convolution->channels * plane +                  \
                             (top + at.down.from * window->dilation_y) * window->width;                                \
            const WEIGHT *weight =                                                                                     \
                (const WEIGHT *)convolution->weight + own.filter * size + at.down.from * window->kernel_x;             \
            OUT *out = (OUT *)convolution->out + result_of(convolution, &own);                                         \
            const int32_t end = partita_min(own.place + STRETCH, window->out_width);                                   \
            for (int32_t next = own.place; next < end; next += PARTITA_BLOCK) {                                        \
                const int32_t place = block_place(window, next);                                                       \
                SUM sums[PARTITA_BLOCK][PARTITA_BLOCK];                                                                \
                at.left = place * window->stride_x - window->low_x;                                                    \
                at.count = partita_at_most_a_block(window->out_width - place);                                         \
                SUM_NAME##_sums(convolution, line, weight, &at, own.filters, sums);                                    \
                FINISH(operation, own.filter, own.filters, sums[0] + (next - place), PARTITA_BLOCK,                    \
                       partita_at_most_a_block(window->out_width - next), out + next);                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

/* GATHERED: with those of gathered windows. A filter has at least one element. */
#define GATHERED(NAME, SUM_NAME, ARGUMENTS, OUT, FINISH)                                                               \
    static void NAME(const struct ARGUMENTS *operation, const struct partita_convolution *convolution, int32_t core,   \
                     int32_t cores)                                                                                    \
    {                                                                                                                  \
        const struct partita_window *window = &convolution->window;                                                    \
        const int32_t plane = convolution->channels * window->height * window->width;                                  \
        const int32_t out_plane = window->out_height * window->out_width;                                              \
        const int32_t size = convolution->channels * window->kernel_y * window->kernel_x;                              \
        uint32_t *windows =                                                                                            \
            (uint32_t *)convolution->windows + core * PARTITA_BLOCK * partita_window_words(convolution);               \
        struct stretches own = stretches_of(convolution, PARTITA_BLOCK, 0, core, cores);                               \
        for (; own.count > 0; next_stretch(convolution, &own)) {                                                       \
            const int32_t place = block_place(window, own.place);                                                      \
            const int32_t count = partita_at_most_a_block(window->out_width - own.place);                              \
            const uint8_t *filter = (const uint8_t *)convolution->weight + own.filter * size;                          \
            OUT *out = (OUT *)convolution->out + result_of(convolution, &own) + own.place;                             \
            int32_t number = own.filter;                                                                               \
            int32_t filters = own.filters;                                                                             \
            partita_gather_windows(convolution, (const uint8_t *)convolution->x + own.group * plane,                   \
                                   own.row * window->stride_y - window->low_y,                                         \
                                   place * window->stride_x - window->low_x, windows);                                 \
            while (filters > 0) {                                                                                      \
                uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK];                                                           \
                int32_t block = PARTITA_BLOCK;                                                                         \
                if (filters >= PARTITA_BLOCK) {                                                                        \
                    SUM_NAME##_four(filter, size, windows, sums);                                                      \
                } else {                                                                                               \
                    SUM_NAME##_one(filter, size, windows, sums[0]);                                                    \
                    block = 1;                                                                                         \
                }                                                                                                      \
                filter += block * size;                                                                                \
                filters -= block;                                                                                      \
                FINISH(operation, number, block, sums[0] + (own.place - place), PARTITA_BLOCK, count, out);            \
                number += block;                                                                                       \
                out += block * out_plane;                                                                              \
            }                                                                                                          \
        }                                                                                                              \
    }

/* LINED: with those of lines as they are, if partita_is_of_lines. */
#define LINED(NAME, SUM_NAME, ARGUMENTS, OUT, FINISH)                                                                  \
    static void NAME(const struct ARGUMENTS *operation, const struct partita_convolution *convolution, int32_t core,   \
                     int32_t cores)                                                                                    \
    {                                                                                                                  \
        const struct partita_window *window = &convolution->window;                                                    \
        const int32_t plane = window->height * window->width;                                                          \
        const int32_t elements = window->kernel_y * window->kernel_x;                                                  \
        const int32_t reach = (PARTITA_BLOCK - 1) * window->stride_x + PARTITA_BLOCK;                                  \
        const int32_t last = convolution->batch * convolution->groups * plane - reach;                                 \
        struct stretches own = stretches_of(convolution, STRETCH, 1, core, cores);                                     \
        for (; own.count > 0; next_stretch(convolution, &own)) {                                                       \
            const int32_t top = own.row * window->stride_y - window->low_y;                                            \
            const struct partita_range down = inside(top, window->kernel_y, window->dilation_y, window->height);       \
            const int32_t rows = down.to - down.from;                                                                  \
            const int32_t count = partita_min(STRETCH, window->out_width - own.place);                                 \
            OUT *out = (OUT *)convolution->out + result_of(convolution, &own) + own.place;                             \
            int32_t left = own.place * window->stride_x - window->low_x;                                               \
            int32_t from = own.group * plane + (top + down.from * window->dilation_y) * window->width + left;          \
            for (int32_t f = 0; f < own.filters; f++) {                                                                \
                const uint8_t *filter = (const uint8_t *)convolution->weight + (own.filter + f) * elements;            \
                uint32_t words[PARTITA_LINES];                                                                         \
                uint32_t sums[STRETCH];                                                                                \
                for (int32_t i = 0; i < rows; i++) {                                                                   \
                    const uint8_t *row = filter + (down.from + i) * window->kernel_x;                                  \
                    words[i] = partita_line_bytes(row, window->kernel_x, 0, 1);                                        \
                }                                                                                                      \
                for (int32_t place = 0; place < count; place += PARTITA_BLOCK) {                                       \
                    const int32_t step = place * window->stride_x;                                                     \
                    const int32_t begin = from + step;                                                                 \
                    const uint8_t *x = (const uint8_t *)convolution->x + begin;                                        \
                    if (begin >= 0 && begin + (rows - 1) * window->dilation_y * window->width <= last) {               \
                        SUM_NAME(window, x, rows, left + step, words, sums + place);                                   \
                    } else {                                                                                           \
                        SUM_NAME##_any(window, x, rows, left + step, words, sums + place);                             \
                    }                                                                                                  \
                }                                                                                                      \
                FINISH(operation, own.filter + f, 1, sums, STRETCH, count, out);                                       \
                out += window->out_height * window->out_width;                                                         \
            }                                                                                                          \
        }                                                                                                              \
    }

#define PLUS_PRODUCT(sum, x, y) ((sum) + (x) * (y))

/* The sums themselves. */
#define FINISH(TYPES, SUM, OUT)                                                                                        \
    static PARTITA_COMPACT void finish_##TYPES(const struct partita_convolution *convolution, int32_t filter,          \
                                               int32_t filters, const SUM *sums, int32_t step, int32_t count,          \
                                               OUT *out)                                                               \
    {                                                                                                                  \
        const int32_t plane = convolution->window.out_height * convolution->window.out_width;                          \
        const OUT *bias = convolution->bias == 0 ? 0 : (const OUT *)convolution->bias + filter;                        \
        for (int32_t f = 0; f < filters; f++) {                                                                        \
            const SUM shift = bias == 0 ? 0 : (SUM)bias[f];                                                            \
            int32_t place = 0;                                                                                         \
            for (; place + PARTITA_BLOCK <= count; place += PARTITA_BLOCK) {                                           \
                PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                             \
                    out[place + i] = (OUT)(bias == 0 ? sums[place + i] : sums[place + i] + shift);                     \
                }                                                                                                      \
            }                                                                                                          \
            for (; place < count; place++) {                                                                           \
                out[place] = (OUT)(bias == 0 ? sums[place] : sums[place] + shift);                                     \
            }                                                                                                          \
            sums += step;                                                                                              \
            out += plane;                                                                                              \
        }                                                                                                              \
    }

FINISH(f32, float, float)
FINISH(i32, uint32_t, int32_t)

#define CONVOLUTION(TYPES, IN, WEIGHT, SUM, OUT_TYPE, OUT, ADD)                                                        \
    SUMS(TYPES, IN, WEIGHT, SUM, ADD)                                                                                  \
    DIRECT(direct_##TYPES, TYPES, IN, WEIGHT, SUM, partita_convolution, OUT, finish_##OUT_TYPE)

#define CONVOLUTION_OF_WIDE(TYPES, IN, WEIGHT, SUM, OUT_TYPE, OUT, ADD)                                                \
    CONVOLUTION(TYPES, IN, WEIGHT, SUM, OUT_TYPE, OUT, ADD)                                                            \
                                                                                                                       \
    void partita_convolution_##TYPES(const void *arguments, int32_t core, int32_t cores)                               \
    {                                                                                                                  \
        const struct partita_convolution convolution = straightened(arguments);                                        \
        direct_##TYPES(&convolution, &convolution, core, cores);                                                       \
    }

/* With a place for its windows, a core gathers them; cores without one have nothing to do. */
#define CONVOLUTION_OF_BYTES(NAME, SUFFIX, ARGUMENTS, OPERATION)                                                       \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct ARGUMENTS *operation = arguments;                                                                 \
        const struct partita_convolution convolution = straightened(OPERATION);                                        \
        const int32_t parts = partita_min(cores, convolution.parts);                                                   \
        if (partita_is_of_lines(&convolution) && convolution.filters < PARTITA_BLOCK * convolution.groups) {           \
            lined_##SUFFIX(operation, &convolution, core, cores);                                                      \
        } else if (convolution.windows == 0) {                                                                         \
            direct_##SUFFIX(operation, &convolution, core, cores);                                                     \
        } else if (core < parts) {                                                                                     \
            gathered_##SUFFIX(operation, &convolution, core, parts);                                                   \
        }                                                                                                              \
    }

CONVOLUTION_OF_WIDE(f32, float, float, float, f32, float, PLUS_PRODUCT)
CONVOLUTION_OF_WIDE(i32_i8, int32_t, int8_t, uint32_t, i32, int32_t, partita_mac)
CONVOLUTION_OF_WIDE(i32_i32, int32_t, int32_t, uint32_t, i32, int32_t, partita_mac)

CONVOLUTION(i8_i8, int8_t, int8_t, uint32_t, i32, int32_t, partita_mac)
CONVOLUTION(u8_i8, uint8_t, int8_t, uint32_t, i32, int32_t, partita_mac)
PARTITA_MULTIPLY_WINDOWS(windows_i8, partita_sdotsp_b, "pv.sdotsp.b")
PARTITA_MULTIPLY_WINDOWS(windows_u8, partita_sdotspu_b, "pv.sdotspu.b")
PARTITA_MULTIPLY_LINES(lines_i8, partita_sdotsp_b)
PARTITA_MULTIPLY_LINES(lines_u8, partita_sdotusp_b)
GATHERED(gathered_i8_i8, windows_i8, partita_convolution, int32_t, finish_i32)
LINED(lined_i8_i8, lines_i8, partita_convolution, int32_t, finish_i32)
GATHERED(gathered_u8_i8, windows_u8, partita_convolution, int32_t, finish_i32)
LINED(lined_u8_i8, lines_u8, partita_convolution, int32_t, finish_i32)
CONVOLUTION_OF_BYTES(partita_convolution_i8_i8, i8_i8, partita_convolution, operation)
CONVOLUTION_OF_BYTES(partita_convolution_u8_i8, u8_i8, partita_convolution, operation)

/* Requantised sums. */
#define REQUANTIZE(OUT_TYPE, OUT)                                                                                      \
    PARTITA_REQUANTIZE_COLUMN(column_##OUT_TYPE, OUT, "p.sb")                                                          \
                                                                                                                       \
    static PARTITA_COMPACT void requantized_##OUT_TYPE(const struct partita_convolution_requantize *requantize,        \
                                                       int32_t filter, int32_t filters, uint32_t *sums, int32_t step,  \
                                                       int32_t count, OUT *out)                                        \
    {                                                                                                                  \
        const struct partita_convolution *convolution = &requantize->convolution;                                      \
        const int32_t plane = convolution->window.out_height * convolution->window.out_width;                          \
        const int32_t *bias = convolution->bias == 0 ? 0 : (const int32_t *)convolution->bias + filter;                \
        const int32_t *multiplier = requantize->multiplier + filter * requantize->multiplier_stride;                   \
        const int32_t *addend = requantize->addend + filter * requantize->addend_stride;                               \
        struct partita_upper to = partita_upper(requantize->shift, requantize->low, requantize->high);                 \
        for (int32_t f = 0; f < filters; f++) {                                                                        \
            if (bias != 0) {                                                                                           \
                const uint32_t shift = (uint32_t)bias[f];                                                              \
                for (int32_t i = 0; i < count; i++) {                                                                  \
                    sums[i] += shift;                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
            if (requantize->shift >= 2 && partita_set_upper(&to, *multiplier, *addend)) {                              \
                column_##OUT_TYPE(to, sums, 1, out, 1, count);                                                         \
            } else {                                                                                                   \
                const struct partita_requantized exact =                                                               \
                    partita_requantized(requantize->shift, requantize->low, requantize->high);                         \
                for (int32_t i = 0; i < count; i++) {                                                                  \
                    out[i] = (OUT)partita_requantize(exact, (int32_t)sums[i], *multiplier, *addend);                   \
                }                                                                                                      \
            }                                                                                                          \
            multiplier += requantize->multiplier_stride;                                                               \
            addend += requantize->addend_stride;                                                                       \
            sums += step;                                                                                              \
            out += plane;                                                                                              \
        }                                                                                                              \
    }

REQUANTIZE(i8, int8_t)
REQUANTIZE(u8, uint8_t)

#define CONVOLUTION_REQUANTIZE(X, IN, OUT_TYPE, OUT)                                                                   \
    DIRECT(direct_##X##_i8_##OUT_TYPE, X##_i8, IN, int8_t, uint32_t, partita_convolution_requantize, OUT,              \
           requantized_##OUT_TYPE)                                                                                     \
    GATHERED(gathered_##X##_i8_##OUT_TYPE, windows_##X, partita_convolution_requantize, OUT, requantized_##OUT_TYPE)   \
    LINED(lined_##X##_i8_##OUT_TYPE, lines_##X, partita_convolution_requantize, OUT, requantized_##OUT_TYPE)           \
    CONVOLUTION_OF_BYTES(partita_convolution_requantize_##X##_i8_##OUT_TYPE, X##_i8_##OUT_TYPE,                        \
                         partita_convolution_requantize, &operation->convolution)

CONVOLUTION_REQUANTIZE(i8, int8_t, i8, int8_t)
CONVOLUTION_REQUANTIZE(i8, int8_t, u8, uint8_t)
CONVOLUTION_REQUANTIZE(u8, uint8_t, i8, int8_t)
CONVOLUTION_REQUANTIZE(u8, uint8_t, u8, uint8_t)
