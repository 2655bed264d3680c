package io.partita.passes.planning.residency;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Source;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.passes.program.values.BlockRanges;
import io.partita.passes.program.values.LocalValues;
import io.partita.passes.program.values.StorageClass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The distribution of the data of one device over its memories.
 *
 * <p>The home memory is the largest one on the chip, and the far memory the largest one outside of
 * it. The first of these that fits is chosen:
 *
 * <ol>
 *   <li>everything in the home memory;
 *   <li>the weights of blocks in the home memory, and the others in tiles from the far memory;
 *   <li>all weights in the far memory, with two buffers of the size of the largest block's weights
 *       in the home memory: one block runs while the next one is loaded;
 *   <li>all weights in tiles from the far memory;
 *   <li>as before, with KV caches in the far memory too; then activations; then tables.
 * </ol>
 *
 * <p>Tiles from the far memory pass through two buffers of the size of a tile in the home memory.
 */
public final class Residency {
  private static final int MAX_NAMED = 4;

  private final LocalValues values;
  private final BlockRanges blocks;
  private final ChipKind chip;
  private final Memory home;
  private final Optional<Memory> far;
  private final Map<Content, Long> sizes = new EnumMap<>(Content.class);
  private final List<Resident> residents = new ArrayList<>();
  private final long smallestTile;
  private final String smallestTileOf;
  private final long largestKernel;
  private final long[] bytesByBlock;
  private final long blockWeights;
  private final long largestBlock;

  private WeightPlace place = WeightPlace.ON_CHIP;
  private final Set<StorageClass> away = EnumSet.noneOf(StorageClass.class);
  private final List<Shortage> shortages = new ArrayList<>();

  private Residency(int device, LocalValues values, ChipKind chip, int channel) {
    this.values = values;
    this.blocks = BlockRanges.of(values.graph());
    this.chip = chip;
    this.home = chip.resident();
    int at = chip.memories().indexOf(home);
    this.far =
        chip.memories().subList(at + 1, chip.memories().size()).stream()
            .max(Comparator.comparingLong(Memory::usable));
    Kernels kernels = new Kernels(values);
    smallestTile = kernels.smallestTile;
    smallestTileOf = kernels.smallestTileOf;
    largestKernel = kernels.largest;
    addConstants();
    addStates();
    LiveRanges.Peak peak = LiveRanges.peak(values, channel, chip.working().usable() / 2);
    sizes.merge(Content.ACTIVATIONS, peak.bytes(), Long::sum);
    residents.addAll(peak.residents());
    residents.sort(Comparator.comparingLong(Resident::bytes).reversed());
    bytesByBlock = blockWeights();
    blockWeights = Arrays.stream(bytesByBlock).sum();
    largestBlock = Arrays.stream(bytesByBlock).max().orElse(0);
    choose(device);
  }

  /**
   * @param device the number of the device, for diagnostics
   * @param channel the number of messages that a channel between devices holds
   */
  public static Residency of(int device, LocalValues values, ChipKind chip, int channel) {
    return new Residency(device, values, chip, channel);
  }

  /** Returns the use of the working memory by the operations of a graph. */
  private static final class Kernels {
    long smallestTile;
    String smallestTileOf = "";
    long largest;

    Kernels(LocalValues values) {
      for (Node node : values.graph().nodes()) {
        var operands = node.operands().stream().map(values::stored).toList();
        var results = node.results().stream().map(values::stored).toList();
        long smallest = SmallestTiles.bytes(node.op(), operands, results);
        if (smallest > smallestTile) {
          smallestTile = smallest;
          smallestTileOf = node.toString();
        }
        if (smallest > 0) {
          long whole = results.stream().mapToLong(type -> type.bytes()).sum();
          for (int i = 0; i < operands.size(); i++) {
            whole += values.storedBytes(node, i);
          }
          largest = Math.max(largest, whole);
        }
      }
    }
  }

  private void addConstants() {
    for (Node node : values.graph().nodes()) {
      if (node.op() instanceof Source.Constant) {
        boolean weight = values.isWeight(node.result());
        add(node.result(), weight ? Content.WEIGHTS : Content.TABLES);
      }
    }
  }

  private void addStates() {
    for (Value input : values.graph().inputs()) {
      if (values.isState(input)) {
        add(input, Content.STATES);
      }
    }
  }

  private void add(Value value, Content content) {
    long bytes = values.bytes(value);
    sizes.merge(content, bytes, Long::sum);
    residents.add(new Resident(value.name(), content, bytes));
  }

  private long size(Content content) {
    return sizes.getOrDefault(content, 0L);
  }

  /** Returns the bytes of the weights whose first use is in each block. */
  private long[] blockWeights() {
    long[] bytes = new long[blocks.count()];
    Set<Value> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Node> nodes = values.graph().nodes();
    for (int i = 0; i < nodes.size(); i++) {
      for (Value operand : nodes.get(i).operands()) {
        int block = blocks.block(i);
        if (block >= 0 && block < bytes.length && isWeightOnce(operand, seen)) {
          bytes[block] += values.bytes(operand);
        }
      }
    }
    return bytes;
  }

  private boolean isWeightOnce(Value value, Set<Value> seen) {
    return values.isWeight(value)
        && value.definition().op() instanceof Source.Constant
        && seen.add(value);
  }

  private boolean isWorkingHome() {
    return home.equals(chip.working());
  }

  /** Returns the bytes of two of the largest tiles. */
  private long tiles() {
    return Math.min(largestKernel, chip.working().usable());
  }

  /** Adds buffers for tiles in the home or the working memory. */
  private long staging() {
    return isWorkingHome() ? Math.min(2 * smallestTile, chip.working().usable()) : tiles();
  }

  private void choose(int device) {
    if (smallestTile > chip.working().usable()) {
      shortages.add(
          new Shortage(
              device,
              chip.name(),
              chip.working().name(),
              "the smallest tile of " + smallestTileOf,
              smallestTile,
              chip.working().usable(),
              List.of()));
    }
    for (WeightPlace candidate : WeightPlace.values()) {
      place = candidate;
      if (isPossible(candidate) && atHome() <= home.usable()) {
        checkFar(device);
        return;
      }
    }
    place = far.isEmpty() ? WeightPlace.ON_CHIP : WeightPlace.IN_TILES;
    for (StorageClass storage :
        List.of(StorageClass.STATE, StorageClass.ACTIVATION, StorageClass.TABLE)) {
      if (far.isPresent() && atHome() > home.usable()) {
        away.add(storage);
      }
    }
    if (atHome() > home.usable()) {
      shortages.add(shortage(device, home, atHome(), far.isEmpty()));
    }
    checkFar(device);
  }

  private boolean isPossible(WeightPlace candidate) {
    return switch (candidate) {
      case ON_CHIP -> true;
      case BLOCKS_ON_CHIP -> far.isPresent() && blockWeights > 0;
      case BLOCK_AHEAD -> far.isPresent() && blocks.count() > 1;
      case IN_TILES -> far.isPresent();
    };
  }

  private void checkFar(int device) {
    if (far.isPresent() && inFar() > far.get().usable()) {
      shortages.add(shortage(device, far.get(), inFar(), true));
    }
  }

  private Shortage shortage(int device, Memory memory, long needed, boolean all) {
    List<Resident> biggest = all ? biggest() : List.of();
    return new Shortage(
        device,
        chip.name(),
        memory.name(),
        all ? "all of its data" : "buffers for tiles",
        needed,
        memory.usable(),
        biggest);
  }

  private long atHome() {
    return home(Content.WEIGHTS)
        + home(Content.TABLES)
        + home(Content.STATES)
        + home(Content.ACTIVATIONS)
        + home(Content.WEIGHT_BUFFERS)
        + (isWorkingHome() ? home(Content.TILES) : 0);
  }

  private long inFar() {
    return far(Content.WEIGHTS)
        + far(Content.TABLES)
        + far(Content.STATES)
        + far(Content.ACTIVATIONS);
  }

  private boolean isAway(Content content) {
    return switch (content) {
      case STATES -> away.contains(StorageClass.STATE);
      case ACTIVATIONS -> away.contains(StorageClass.ACTIVATION);
      case TABLES -> away.contains(StorageClass.TABLE);
      case WEIGHTS, WEIGHT_BUFFERS, TILES -> false;
    };
  }

  private boolean hasOtherWeights() {
    return size(Content.WEIGHTS) > blockWeights;
  }

  private long home(Content content) {
    return switch (content) {
      case WEIGHTS ->
          switch (place) {
            case ON_CHIP -> size(Content.WEIGHTS);
            case BLOCKS_ON_CHIP -> blockWeights;
            case BLOCK_AHEAD, IN_TILES -> 0;
          };
      case WEIGHT_BUFFERS ->
          switch (place) {
            case ON_CHIP -> 0;
            case BLOCKS_ON_CHIP -> isWorkingHome() ? 0 : staging();
            case BLOCK_AHEAD ->
                2 * largestBlock + (hasOtherWeights() && !isWorkingHome() ? staging() : 0);
            case IN_TILES -> isWorkingHome() ? 0 : staging();
          };
      case TILES -> isWorkingHome() && place == WeightPlace.ON_CHIP ? 0 : staging();
      case TABLES, STATES, ACTIVATIONS -> isAway(content) ? 0 : size(content);
    };
  }

  private long far(Content content) {
    return switch (content) {
      case WEIGHTS -> size(Content.WEIGHTS) - home(Content.WEIGHTS);
      case TABLES, STATES, ACTIVATIONS -> size(content) - home(content);
      case WEIGHT_BUFFERS, TILES -> 0;
    };
  }

  /** Returns the uses of memories, nearest first. */
  public List<MemoryUse> memories() {
    List<MemoryUse> uses = new ArrayList<>();
    for (Memory memory : chip.memories()) {
      Map<Content, Long> bytes = new EnumMap<>(Content.class);
      for (Content content : Content.values()) {
        long here = 0;
        if (memory.equals(home) && (content != Content.TILES || isWorkingHome())) {
          here = home(content);
        } else if (far.isPresent() && memory.equals(far.get())) {
          here = far(content);
        } else if (memory.equals(chip.working()) && content == Content.TILES) {
          here = tiles();
        }
        if (here > 0) {
          bytes.put(content, here);
        }
      }
      uses.add(new MemoryUse(memory.name(), memory.usable(), bytes));
    }
    return uses;
  }

  /** Returns the largest residents, in descending order. */
  public List<Resident> biggest() {
    return residents.stream().limit(MAX_NAMED).toList();
  }

  public List<Shortage> shortages() {
    return List.copyOf(shortages);
  }

  public WeightPlace weightPlace() {
    return place;
  }

  /** Returns the bytes of all weights in any memory. */
  public long weightBytes() {
    return size(Content.WEIGHTS);
  }

  /** Returns the bytes of the weights of one block. */
  public long blockBytes(int block) {
    return bytesByBlock[block];
  }

  public BlockRanges blocks() {
    return blocks;
  }

  /** Returns the memory of a value that a kernel of a block uses. */
  public String memory(Value value, int block) {
    StorageClass storage = values.storageClass(value);
    boolean isFar =
        switch (storage) {
          case WEIGHT ->
              switch (place) {
                case ON_CHIP -> false;
                case BLOCKS_ON_CHIP, BLOCK_AHEAD -> block < 0 || block >= blocks.count();
                case IN_TILES -> true;
              };
          case TABLE, STATE, ACTIVATION -> away.contains(storage);
        };
    return isFar ? far.orElse(home).name() : home.name();
  }

  public String home() {
    return home.name();
  }

  /**
   * Returns the memory from which weights are loaded; the home memory if there is no farther one.
   */
  public String far() {
    return far.orElse(home).name();
  }
}
