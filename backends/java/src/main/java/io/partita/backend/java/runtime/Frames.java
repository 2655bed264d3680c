package io.partita.backend.java.runtime;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A connection to another device's process, which carries frames: a number, a length and the bytes.
 */
final class Frames implements Closeable {
  private static final int BLOCK = 1 << 16;

  /** One frame. */
  static final class Frame {
    final int number;
    final byte[] bytes;

    Frame(int number, byte[] bytes) {
      this.number = number;
      this.bytes = bytes;
    }
  }

  final Socket socket;
  private final Socket plain;
  private final DataInputStream in;
  private final DataOutputStream out;

  /**
   * @param plain the socket below an encrypted connection; closing it doesn't block
   */
  Frames(Socket socket, Socket plain) throws IOException {
    this.socket = socket;
    this.plain = plain;
    socket.setTcpNoDelay(true);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BLOCK));
    out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), BLOCK));
  }

  synchronized void write(int number, byte[] bytes) throws IOException {
    out.writeInt(number);
    out.writeInt(bytes.length);
    out.write(bytes);
    out.flush();
  }

  /**
   * Waits for the next frame.
   *
   * @param arrives runs for each block that arrives
   */
  Frame read(Runnable arrives) throws IOException {
    int number = in.readInt();
    int length = in.readInt();
    if (length < 0) {
      throw new IOException("a frame of " + length + " bytes");
    }
    byte[] bytes = new byte[Math.min(BLOCK, length)];
    for (int done = 0; done < length; ) {
      if (done == bytes.length) {
        // Only what has arrived takes memory, and not what a length claims.
        bytes = Arrays.copyOf(bytes, (int) Math.min(length, 4L * done));
      }
      int block = Math.min(BLOCK, bytes.length - done);
      in.readFully(bytes, done, block);
      done += block;
      arrives.run();
    }
    return new Frame(number, bytes);
  }

  /** Reads a frame from an unauthenticated peer, which must be short. */
  Frame readShort() throws IOException {
    int number = in.readInt();
    int length = in.readInt();
    if (length < 0 || length > BLOCK) {
      throw new IOException("a frame of " + length + " bytes");
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return new Frame(number, bytes);
  }

  @Override
  public void close() {
    try {
      plain.close();
    } catch (IOException closed) {
      // Nothing can be lost any more.
    }
  }

  /** Serialises arrays of elements, any of which may be null. */
  static byte[] bytes(Object[] arrays) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(arrays.length);
      for (Object array : arrays) {
        write(array, out);
      }
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
    return bytes.toByteArray();
  }

  private static ByteBuffer buffer(int elements, int bytes) {
    return ByteBuffer.allocate(Math.multiplyExact(elements, bytes)).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static void write(Object array, DataOutputStream out) throws IOException {
    if (array == null) {
      out.writeByte('-');
    } else if (array instanceof float[]) {
      float[] values = (float[]) array;
      ByteBuffer buffer = buffer(values.length, Float.BYTES);
      buffer.asFloatBuffer().put(values);
      write('f', buffer, out);
    } else if (array instanceof double[]) {
      double[] values = (double[]) array;
      ByteBuffer buffer = buffer(values.length, Double.BYTES);
      buffer.asDoubleBuffer().put(values);
      write('d', buffer, out);
    } else if (array instanceof long[]) {
      long[] values = (long[]) array;
      ByteBuffer buffer = buffer(values.length, Long.BYTES);
      buffer.asLongBuffer().put(values);
      write('l', buffer, out);
    } else if (array instanceof int[]) {
      int[] values = (int[]) array;
      ByteBuffer buffer = buffer(values.length, Integer.BYTES);
      buffer.asIntBuffer().put(values);
      write('i', buffer, out);
    } else if (array instanceof short[]) {
      short[] values = (short[]) array;
      ByteBuffer buffer = buffer(values.length, Short.BYTES);
      buffer.asShortBuffer().put(values);
      write('s', buffer, out);
    } else if (array instanceof byte[]) {
      write('b', ByteBuffer.wrap((byte[]) array), out);
    } else {
      boolean[] values = (boolean[]) array;
      ByteBuffer buffer = buffer(values.length, 1);
      for (boolean value : values) {
        buffer.put((byte) (value ? 1 : 0));
      }
      write('z', buffer, out);
    }
  }

  private static void write(char kind, ByteBuffer buffer, DataOutputStream out) throws IOException {
    out.writeByte(kind);
    out.writeInt(buffer.capacity());
    out.write(buffer.array());
  }

  /**
   * Reads the result of {@link #bytes}.
   *
   * @throws IllegalStateException if it is none
   */
  static Object[] arrays(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      Object[] arrays = new Object[length(in)];
      for (int i = 0; i < arrays.length; i++) {
        char kind = (char) in.readByte();
        if (kind != '-') {
          byte[] content = new byte[length(in)];
          in.readFully(content);
          arrays[i] = array(kind, ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN));
        }
      }
      return arrays;
    } catch (IOException wrong) {
      throw new IllegalStateException(wrong);
    }
  }

  /** Reads a length, of elements that take at least a byte each. */
  private static int length(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > in.available()) {
      throw new IllegalStateException("a length of " + length + " before " + in.available());
    }
    return length;
  }

  private static Object array(char kind, ByteBuffer buffer) {
    int bytes = buffer.capacity();
    switch (kind) {
      case 'f' -> {
        float[] values = new float[bytes / Float.BYTES];
        buffer.asFloatBuffer().get(values);
        return values;
      }
      case 'd' -> {
        double[] values = new double[bytes / Double.BYTES];
        buffer.asDoubleBuffer().get(values);
        return values;
      }
      case 'l' -> {
        long[] values = new long[bytes / Long.BYTES];
        buffer.asLongBuffer().get(values);
        return values;
      }
      case 'i' -> {
        int[] values = new int[bytes / Integer.BYTES];
        buffer.asIntBuffer().get(values);
        return values;
      }
      case 's' -> {
        short[] values = new short[bytes / Short.BYTES];
        buffer.asShortBuffer().get(values);
        return values;
      }
      case 'b' -> {
        return buffer.array();
      }
      case 'z' -> {
        boolean[] values = new boolean[bytes];
        for (int i = 0; i < bytes; i++) {
          values[i] = buffer.get(i) != 0;
        }
        return values;
      }
      default -> throw new IllegalStateException("an array of kind " + kind);
    }
  }
}
