package io.partita.backend.java;

import java.nio.file.Path;

/** How the devices of a program run. */
public sealed interface DeviceHosting {
  /** Each device is a thread of this process. */
  record Threads() implements DeviceHosting {}

  /** Each device is a process on this computer; device 0 is this process. */
  record Processes() implements DeviceHosting {}

  /**
   * The devices are processes at given addresses; this one is device 0, and the user starts the
   * others.
   *
   * @param addresses {@code host:port} of each device, separated by commas
   * @param key the file of the devices' shared key
   */
  record Peers(String addresses, Path key) implements DeviceHosting {}
}
