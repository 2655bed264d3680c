package io.partita.backend.java;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.Severity;

/** What can go wrong when a module becomes Java, or when emitted Java is run. */
public enum BackendCode implements DiagnosticCode {
  SYMBOLIC_SHAPE("P5001", "a shape is not known at compile time"),
  DESCRIPTOR("P5004", "the compiled model can't be read"),
  EMITTED_SOURCE("P5005", "the emitted Java doesn't compile"),
  PROGRAM_INPUT("P5006", "an input doesn't fit the compiled model"),
  PROGRAM_FAILED("P5007", "the compiled model stopped"),
  CLASS_NAME("P5008", "the class or package name isn't a Java name"),
  TOO_LARGE("P5009", "a tensor is too large for a Java array"),
  PEER_UNREACHABLE("P5010", "a device doesn't answer"),
  PEER_MISMATCH("P5011", "the devices have different programs or keys"),
  DEVICE_ENDED("P5012", "a device's process ended"),
  PORT_IN_USE("P5013", "a device can't listen at its address"),
  DEVICES_STALLED("P5014", "the devices wait for each other"),
  PEERS("P5015", "the list of device addresses is invalid"),
  PARTIAL_PORT("P5016", "an input or output is a partial result"),
  KEY("P5017", "the key of the devices can't be used");

  private final String id;
  private final String title;

  BackendCode(String id, String title) {
    this.id = id;
    this.title = title;
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public Severity severity() {
    return Severity.ERROR;
  }

  @Override
  public String title() {
    return title;
  }

  @Override
  public boolean isOfEmittedCode() {
    return this == EMITTED_SOURCE || this == PROGRAM_FAILED;
  }
}
