package io.partita.backend.java.runtime;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Starts processes of devices. */
final class DeviceMain {
  private static final int CONNECT_SECONDS = 30;
  private static final int USAGE = 2;
  private static final int FAILED = 3;

  private final String program;
  private final int[][] neighbours;
  private final Channels.Opener opener;

  /**
   * @param program the fingerprint that all devices must share
   * @param neighbours for each device, those with which it exchanges messages
   */
  DeviceMain(String program, int[][] neighbours, Channels.Opener opener) {
    this.program = program;
    this.neighbours = neighbours;
    this.opener = opener;
  }

  private SocketChannels.Self self(int device, String peers, Path key) throws IOException {
    List<InetSocketAddress> addresses = SocketChannels.addresses(peers, neighbours.length);
    return new SocketChannels.Self(
        device, addresses, program, neighbours, CONNECT_SECONDS, new Credentials(key));
  }

  /** Connects this process, as device 0, to all others. */
  Channels.Devices connect(Path folder, String peers, Path key) throws IOException {
    SocketChannels.Self self = self(0, peers, key);
    return connect(folder, self, SocketChannels.listen(self));
  }

  /** Connects device 0, which already listens at its address, to all others. */
  Channels.Devices connect(Path folder, String peers, Path key, ServerSocket server)
      throws IOException {
    return connect(folder, self(0, peers, key), server);
  }

  private Channels.Devices connect(Path folder, SocketChannels.Self self, ServerSocket server)
      throws IOException {
    return new DeviceProcesses(SocketChannels.connect(self, server), folder, opener);
  }

  /** Runs a device other than 0 until device 0 ends. */
  void serve(Path folder, int device, String peers, Path key) throws IOException {
    SocketChannels.Self self = self(device, peers, key);
    serve(folder, self, SocketChannels.listen(self));
  }

  private void serve(Path folder, SocketChannels.Self self, ServerSocket server)
      throws IOException {
    DeviceProcesses.serve(self.device, SocketChannels.connect(self, server), folder, opener);
  }

  /** Runs {@code DIR --device I --peers HOST:PORT,... --key FILE} and ends the process. */
  void main(String... arguments) {
    boolean fits =
        arguments.length == 7
            && arguments[1].equals("--device")
            && arguments[2].matches("[0-9]{1,6}")
            && arguments[3].equals("--peers")
            && arguments[5].equals("--key");
    int device = fits ? Integer.parseInt(arguments[2]) : 0;
    if (device == 0 || device >= neighbours.length) {
      System.err.println(
          "usage: DIR --device I --peers HOST:PORT,... --key FILE with I from 1 to "
              + (neighbours.length - 1)
              + ", an address for each device, and the key that 'partita key' made");
      System.exit(USAGE);
    }
    try {
      Path folder = Path.of(arguments[0]);
      Path key = Path.of(arguments[6]);
      if (arguments[4].equals("-")) {
        serveParent(folder, device, key);
      } else {
        serve(folder, device, arguments[4], key);
      }
      System.exit(0);
    } catch (IOException | RuntimeException e) {
      System.err.println("device " + device + ": " + e.getMessage());
      System.exit(FAILED);
    }
  }

  /** Prints the free port on which it listens, and reads the addresses of all devices. */
  private void serveParent(Path folder, int device, Path key) throws IOException {
    ServerSocket server =
        new ServerSocket(0, neighbours.length * 2, InetAddress.getLoopbackAddress());
    System.out.println("port " + server.getLocalPort());
    System.out.flush();
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String peers = in.readLine();
    if (peers != null) {
      serve(folder, self(device, peers, key), server);
    }
  }
}
