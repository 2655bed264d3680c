package io.partita.backend.java.runtime;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The channels of a device in its own process: a TCP connection to each device with which it
 * exchanges messages, and one between device 0 and each other device for calls and results. Of two
 * devices, the one with the higher number connects to the other. Both prove that they hold the same
 * key before either sends anything ({@link Credentials}). A peer that can't is dropped after a few
 * seconds; the number of such peers is limited, and none is accepted once all devices are
 * connected.
 */
final class SocketChannels extends Channels implements Closeable {
  /** Both ends of a connection send this first. */
  private static final int MAGIC = 0x50415254;

  private static final int VERSION = 2;
  private static final int ANSWER_MILLISECONDS = 5000;
  private static final int RETRY_MILLISECONDS = 100;
  private static final int MAX_ARRIVALS = 64;

  /** A device and its program. */
  static final class Self {
    final int device;
    final List<InetSocketAddress> peers;
    final String program;
    final int[][] neighbours;
    final int seconds;
    final Credentials credentials;

    /**
     * @param peers addresses of all devices
     * @param program the fingerprint that devices must share
     * @param neighbours for each device, those with which it exchanges messages
     * @param seconds how long to wait for the others
     * @param credentials the key by which devices authenticate each other
     */
    Self(
        int device,
        List<InetSocketAddress> peers,
        String program,
        int[][] neighbours,
        int seconds,
        Credentials credentials) {
      this.credentials = credentials;
      this.seconds = seconds;
      this.device = device;
      this.peers = peers;
      this.program = program;
      this.neighbours = neighbours;
    }

    boolean isNeighbour(int other) {
      for (int neighbour : neighbours[device]) {
        if (neighbour == other) {
          return true;
        }
      }
      return false;
    }
  }

  /** The received messages of another device. */
  private static final class Link {
    private final Frames frames;
    private final BlockingQueue<Frames.Frame> arrived = new ArrayBlockingQueue<>(1);
    private volatile boolean ended;

    Link(Frames frames) {
      this.frames = frames;
    }
  }

  private final Self self;
  private final Map<Integer, Link> links = new ConcurrentSkipListMap<>();

  /** The connections for calls and results: those of device 0, or the one to it. */
  final Map<Integer, Frames> calls = new ConcurrentSkipListMap<>();

  /** Counts received blocks and handled messages: while it increases, nothing is stalled. */
  final AtomicLong progress = new AtomicLong();

  /** The message that the device waits for; empty while it computes. */
  volatile String waiting = "";

  private volatile Failure failure;

  /** Unauthenticated connections, the oldest first. */
  private final Deque<Socket> arrivals = new ArrayDeque<>();

  /** The address of a peer with another key, which may be a device that got the wrong one. */
  private volatile String stranger;

  /** Why a device that holds the key can't take part. */
  private volatile Failure refused;

  private SocketChannels(Self self) {
    this.self = self;
  }

  /** Parses {@code host:port,host:port}. */
  static List<InetSocketAddress> addresses(String text, int devices) {
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (String peer : text.strip().split(",", -1)) {
      int colon = peer.lastIndexOf(':');
      try {
        int port = Integer.parseInt(peer.substring(colon + 1).strip());
        String host = peer.substring(0, Math.max(0, colon)).strip().replaceAll("[\\[\\]]", "");
        if (!host.isEmpty() && port > 0) {
          addresses.add(InetSocketAddress.createUnresolved(host, port));
        }
      } catch (IllegalArgumentException wrong) {
        throw new Failure(Reason.PEERS, 0, "\"" + peer + "\" in " + text, wrong);
      }
    }
    if (addresses.size() != devices) {
      String found = addresses.size() + " addresses for " + devices + " devices: " + text;
      throw new Failure(Reason.PEERS, 0, found, null);
    }
    return addresses;
  }

  private static InetSocketAddress resolved(InetSocketAddress address) {
    return new InetSocketAddress(address.getHostString(), address.getPort());
  }

  /** Listens at the device's address; other computers can't connect to a loopback address. */
  static ServerSocket listen(Self self) {
    InetSocketAddress own = self.peers.get(self.device);
    try {
      InetAddress address = resolved(own).getAddress();
      boolean isLocal = address != null && address.isLoopbackAddress();
      return new ServerSocket(
          own.getPort(), MAX_ARRIVALS + self.peers.size() * 2, isLocal ? address : null);
    } catch (IOException e) {
      String found = own.getHostString() + ":" + own.getPort() + ": " + e.getMessage();
      throw new Failure(Reason.PORT, self.device, found, e);
    }
  }

  /**
   * Connects to all devices with which this one communicates, and waits until they are connected.
   *
   * @throws Failure if a device doesn't connect in time, or has a different program
   */
  static SocketChannels connect(Self self, ServerSocket server) {
    SocketChannels channels = new SocketChannels(self);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(self.seconds);
    // Accepts others while this device still connects, so that no two wait for each other.
    FutureTask<Void> accepting = new FutureTask<>(() -> channels.accept(server, deadline), null);
    Thread acceptor = new Thread(accepting, "connections");
    acceptor.setDaemon(true);
    acceptor.start();
    try (server) {
      for (int other = 0; other < self.device; other++) {
        if (self.isNeighbour(other)) {
          channels.links.put(other, new Link(channels.dial(other, 'm', deadline)));
        }
        if (other == 0) {
          channels.calls.put(other, channels.dial(other, 'c', deadline));
        }
      }
      accepting.get();
    } catch (IOException | ExecutionException | InterruptedException e) {
      channels.close();
      throw failed(self.device, e instanceof ExecutionException ? e.getCause() : e);
    } catch (Failure failure) {
      channels.close();
      throw failure;
    }
    channels.links.forEach(channels::startReading);
    return channels;
  }

  /** Connects to a device with a lower number, which may not have started yet. */
  private Frames dial(int other, char kind, long deadline) {
    InetSocketAddress address = self.peers.get(other);
    String where = address.getHostString() + ":" + address.getPort();
    IOException last = null;
    do {
      Socket socket = new Socket();
      try {
        socket.connect(resolved(address), ANSWER_MILLISECONDS);
        socket.setSoTimeout(ANSWER_MILLISECONDS);
        Frames frames = new Frames(self.credentials.secured(socket, true), socket);
        frames.write(MAGIC, greeting(kind, other));
        verifyAnswer(other, where, frames.readShort());
        frames.write(MAGIC, new byte[0]);
        socket.setSoTimeout(0);
        return frames;
      } catch (IOException e) {
        last = e;
        closeQuietly(socket);
        if (Credentials.isOtherKey(e)) {
          throw mismatch(other, where + ": its key differs from this device's");
        }
        pause();
      } catch (Failure wrong) {
        closeQuietly(socket);
        throw wrong;
      }
    } while (System.nanoTime() < deadline);
    throw new Failure(Reason.UNREACHABLE, other, where + ": " + last.getMessage(), last);
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException closed) {
      // It was never used.
    }
  }

  private static void pause() {
    try {
      Thread.sleep(RETRY_MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failure(Reason.FAILED, 0, "interrupted while connecting", e);
    }
  }

  private byte[] greeting(char kind, int other) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(VERSION);
    out.writeUTF(self.program);
    out.writeChar(kind);
    out.writeInt(self.device);
    out.writeInt(other);
    return bytes.toByteArray();
  }

  private void verifyAnswer(int other, String where, Frames.Frame answer) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(answer.bytes));
    if (answer.number != MAGIC) {
      throw mismatch(other, where + ": the peer isn't a device");
    }
    verifySame(other, where, in);
    in.readChar();
    int device = in.readInt();
    if (device != other) {
      throw mismatch(other, where + ": device " + device);
    }
  }

  private void verifySame(int other, String where, DataInputStream in) throws IOException {
    int version = in.readInt();
    if (version != VERSION) {
      throw mismatch(other, where + ": channels of version " + version + ", not " + VERSION);
    }
    String program = in.readUTF();
    if (!program.equals(self.program)) {
      throw mismatch(other, where + ": program " + program + ", not " + self.program);
    }
  }

  private static Failure mismatch(int device, String found) {
    return new Failure(Reason.MISMATCH, device, found, null);
  }

  /** Waits for the devices with higher numbers. */
  private void accept(ServerSocket server, long deadline) {
    try {
      acceptAll(server, deadline);
    } finally {
      synchronized (arrivals) {
        arrivals.forEach(SocketChannels::closeQuietly);
        arrivals.clear();
      }
    }
  }

  private void acceptAll(ServerSocket server, long deadline) {
    while (true) {
      if (refused != null) {
        throw refused;
      }
      int missing = missing();
      if (missing < 0) {
        return;
      }
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left <= 0) {
        InetSocketAddress address = self.peers.get(missing);
        String found = address.getHostString() + ":" + address.getPort() + ": it doesn't connect";
        if (stranger != null) {
          throw mismatch(missing, found + "; a peer at " + stranger + " has another key");
        }
        throw new Failure(Reason.UNREACHABLE, missing, found, null);
      }
      try {
        server.setSoTimeout((int) Math.min(left, RETRY_MILLISECONDS));
        admit(server.accept());
      } catch (SocketTimeoutException none) {
        // The next iteration checks which devices have connected.
      } catch (IOException e) {
        throw new Failure(Reason.PORT, self.device, String.valueOf(e.getMessage()), e);
      }
    }
  }

  /** A device with a higher number that hasn't connected yet, or -1. */
  private int missing() {
    for (int other = self.device + 1; other < self.peers.size(); other++) {
      boolean linked = !self.isNeighbour(other) || links.containsKey(other);
      if (!linked || self.device == 0 && !calls.containsKey(other)) {
        return other;
      }
    }
    return -1;
  }

  /** Handles a new connection concurrently; if there are too many, drops the longest silent one. */
  private void admit(Socket socket) {
    synchronized (arrivals) {
      if (arrivals.size() == MAX_ARRIVALS) {
        closeQuietly(arrivals.removeFirst());
      }
      arrivals.addLast(socket);
    }
    Thread hearing = new Thread(() -> hear(socket), "arrival");
    hearing.setDaemon(true);
    hearing.start();
  }

  private void hear(Socket socket) {
    try {
      welcome(socket);
    } catch (Failure mismatch) {
      refused = mismatch;
      closeQuietly(socket);
    } finally {
      synchronized (arrivals) {
        arrivals.remove(socket);
      }
    }
  }

  /** Accepts a connection, if it is from a device. */
  private void welcome(Socket socket) {
    try {
      socket.setSoTimeout(ANSWER_MILLISECONDS);
      Frames frames = new Frames(self.credentials.secured(socket, false), socket);
      Frames.Frame greeting = frames.readShort();
      if (greeting.number == MAGIC) {
        frames.write(MAGIC, greeting('a', 0));
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(greeting.bytes));
        verifySame(self.device, "the peer at " + socket.getInetAddress(), in);
        char kind = in.readChar();
        int other = in.readInt();
        boolean isDevice = other > self.device && other < self.peers.size();
        boolean isKnown = (kind == 'c' || kind == 'm') && isDevice;
        // A device that got no answer in time has given this connection up for another.
        if (isKnown && in.readInt() == self.device && frames.readShort().number == MAGIC) {
          socket.setSoTimeout(0);
          synchronized (arrivals) {
            if (arrivals.remove(socket)) {
              keep(kind, other, frames);
            }
          }
          return;
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      // Devices may still connect after any such failure.
      if (e instanceof IOException failure && Credentials.isOtherKey(failure)) {
        stranger = socket.getInetAddress().getHostAddress();
      }
    }
    closeQuietly(socket);
  }

  private void keep(char kind, int other, Frames frames) {
    Frames earlier;
    if (kind == 'c') {
      earlier = calls.put(other, frames);
    } else {
      Link link = links.put(other, new Link(frames));
      earlier = link == null ? null : link.frames;
    }
    if (earlier != null) {
      earlier.close();
    }
  }

  private void startReading(int other, Link link) {
    Thread reader = new Thread(() -> read(link), "messages of device " + other);
    reader.setDaemon(true);
    reader.start();
  }

  private void read(Link link) {
    try {
      while (true) {
        link.arrived.put(link.frames.read(progress::incrementAndGet));
      }
    } catch (IOException | InterruptedException e) {
      link.ended = true;
    }
  }

  @Override
  void send(int to, int sync, byte[] message) {
    verifyGoesOn();
    waiting = "device " + self.device + " sends to " + to + " in sync " + sync;
    try {
      links.get(to).frames.write(sync, message);
      progress.incrementAndGet();
    } catch (IOException e) {
      throw ended(to);
    } finally {
      waiting = "";
    }
  }

  @Override
  byte[] receive(int from, int sync, int bytes) {
    Link link = links.get(from);
    waiting = "device " + self.device + " receives from " + from + " in sync " + sync;
    try {
      while (true) {
        verifyGoesOn();
        boolean last = link.ended;
        Frames.Frame frame = link.arrived.poll(RETRY_MILLISECONDS, TimeUnit.MILLISECONDS);
        if (frame != null) {
          progress.incrementAndGet();
          verifyDue(from, sync, bytes, frame.number, frame.bytes.length);
          return frame.bytes;
        } else if (last) {
          throw ended(from);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } finally {
      waiting = "";
    }
  }

  private Failure ended(int other) {
    return failure != null
        ? failure
        : new Failure(
            Reason.ENDED, other, "its connection to device " + self.device + " ended", null);
  }

  private void verifyGoesOn() {
    if (failure != null) {
      throw failure;
    }
  }

  /** Ends the device's current and all later waits. */
  void end(Failure cause) {
    if (failure == null) {
      failure = cause;
    }
    close();
  }

  @Override
  public void close() {
    links.values().forEach(link -> link.frames.close());
    calls.values().forEach(Frames::close);
  }
}
