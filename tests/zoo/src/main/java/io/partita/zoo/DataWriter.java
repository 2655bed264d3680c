package io.partita.zoo;

import io.partita.zoo.DataLayout.Tiling;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.List;

/** Writes a file of external data in chunks, with constant memory. */
final class DataWriter {
  private static final int CHUNK_BYTES = 1 << 20;

  private final FileChannel channel;
  private final long seed;
  private final ByteBuffer chunk =
      ByteBuffer.allocateDirect(CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private long written;

  DataWriter(FileChannel channel, long seed) {
    this.channel = channel;
    this.seed = seed;
  }

  /** Returns the number of bytes written, without holes. */
  long write(DataLayout layout, List<Weight> weights) throws IOException {
    boolean tiled = layout.tiling().isPresent();
    List<Weight> own =
        weights.stream().filter(weight -> !tiled || !DataLayout.shared(weight)).toList();
    if (tiled) {
      writeTiles(layout.tiling().get());
    }
    for (Weight weight : own) {
      long stream = Fill.Normal.stream(seed, weight.name());
      writeRun(weight.fill(), stream, 0, layout.offsets().get(weight.name()), weight.bytes());
    }
    return written;
  }

  private void writeTiles(Tiling tiling) throws IOException {
    long page = DataLayout.PAGE_BYTES;
    long firstPage = (tiling.leadBytes() / page / tiling.stride() + 1) * tiling.stride();
    long pages = Math.max(0, (tiling.bytes() / page - 1 - firstPage) / tiling.stride() + 1);
    long stream = Fill.Normal.stream(seed, "tiles");
    Fill lead = new Fill.Normal(0, tiling.leadDeviation());
    Fill tile = new Fill.Normal(0, tiling.deviation());
    writeRun(lead, stream, 0, 0, tiling.leadBytes());
    for (long i = 0; i < pages; i++) {
      long offset = (firstPage + i * tiling.stride()) * page;
      writeRun(tile, stream, offset / Float.BYTES, offset, page);
    }
  }

  /** Writes elements of a fill, from {@code first} on, to a position in the file. */
  private void writeRun(Fill fill, long stream, long first, long offset, long bytes)
      throws IOException {
    for (long done = 0; done < bytes; done += CHUNK_BYTES) {
      chunk.clear().limit((int) Math.min(CHUNK_BYTES, bytes - done));
      fill.append(stream, first + done / Float.BYTES, chunk);
      chunk.flip();
      for (long place = offset + done; chunk.hasRemaining(); ) {
        place += channel.write(chunk, place);
      }
    }
    written += bytes;
  }
}
