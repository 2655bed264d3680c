package io.partita.driver.report;

import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.target.Parameter;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.planning.cost.DeviceReport;
import io.partita.passes.planning.cost.PlanReport;
import io.partita.passes.planning.residency.MemoryUse;
import io.partita.passes.planning.residency.Resident;
import io.partita.passes.planning.residency.Shortage;
import io.partita.passes.planning.search.PlannedSync;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The figures of a plan as JSON, in seconds, joules and bytes: those that {@code plan} prints. */
public final class PlanFields {
  private PlanFields() {}

  /** The target's name, number of devices and parameters. */
  public static Map<String, Object> target(TargetDescription target) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", target.name());
    json.put("devices", target.deviceCount());
    Map<String, String> parameters = new LinkedHashMap<>();
    for (Parameter parameter : target.parameters()) {
      parameters.put(parameter.name(), parameter.value().toString());
    }
    json.put("parameters", parameters);
    return json;
  }

  /** The size of each axis. */
  public static Map<String, Integer> mesh(Mesh mesh) {
    Map<String, Integer> axes = new LinkedHashMap<>();
    for (MeshAxis axis : mesh.axes()) {
      axes.put(axis.name(), axis.size());
    }
    return axes;
  }

  /** The time, energy, traffic and devices of a run. */
  public static Map<String, Object> run(PlanReport report) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("fits", report.fits());
    json.put("seconds", report.seconds());
    report.hitSeconds().ifPresent(hits -> json.put("hitSeconds", hits));
    json.put("interval", report.interval());
    json.put("breakdown", report.breakdown());
    json.put("joules", report.totalJoules());
    json.put("energy", report.joules());
    json.put("bytes", report.bytes());
    json.put("links", report.links());
    json.put("devices", report.devices().stream().map(PlanFields::device).toList());
    return json;
  }

  private static Map<String, Object> device(DeviceReport device) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("device", device.device());
    json.put("chip", device.chip());
    json.put("weights", device.weights());
    json.put("weightBytes", device.weightBytes());
    json.put("memories", device.memories().stream().map(PlanFields::memory).toList());
    json.put("biggest", device.biggest().stream().map(PlanFields::resident).toList());
    json.put("computeSeconds", device.computeSeconds());
    json.put("bytes", device.bytes());
    json.put("joules", device.joules());
    return json;
  }

  private static Map<String, Object> memory(MemoryUse memory) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("memory", memory.memory());
    json.put("used", memory.used());
    json.put("available", memory.available());
    Map<String, Long> bytes = new LinkedHashMap<>();
    memory.bytes().forEach((content, number) -> bytes.put(content.text(), number));
    json.put("bytes", bytes);
    return json;
  }

  private static Map<String, Object> resident(Resident resident) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", resident.name());
    json.put("content", resident.content().text());
    json.put("bytes", resident.bytes());
    return json;
  }

  /** The syncs, in order. */
  public static List<Map<String, Object>> syncs(List<PlannedSync> syncs) {
    return syncs.stream().map(PlanFields::sync).toList();
  }

  private static Map<String, Object> sync(PlannedSync sync) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", sync.name());
    json.put("block", sync.block());
    json.put("type", sync.type().toString());
    Map<String, String> kinds = new LinkedHashMap<>();
    sync.kinds().forEach((axis, kind) -> kinds.put(axis, kind.text().replace('_', '-')));
    json.put("kinds", kinds);
    json.put("algorithm", sync.algorithm());
    json.put("codec", sync.codec());
    json.put("messages", sync.messages());
    json.put("bytes", sync.bytes());
    json.put("seconds", sync.seconds());
    return json;
  }

  /** A memory that is too small. */
  public static Map<String, Object> shortage(Shortage shortage) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("device", shortage.device());
    json.put("chip", shortage.chip());
    json.put("memory", shortage.memory());
    json.put("what", shortage.what());
    json.put("needed", shortage.needed());
    json.put("available", shortage.available());
    json.put("biggest", shortage.biggest().stream().map(PlanFields::resident).toList());
    return json;
  }
}
