package io.partita.zoo;

import java.nio.file.Path;
import java.util.Optional;

/**
 * What was written.
 *
 * @param model the ONNX file
 * @param data the file of its external data
 * @param parameters learned numbers, as they were written
 * @param modelBytes length of the ONNX file
 * @param dataBytes length of the data file, holes included; 0 without one
 * @param bytesOnDisk what both files occupy, about
 */
public record ZooFile(
    Path model,
    Optional<Path> data,
    long parameters,
    long modelBytes,
    long dataBytes,
    long bytesOnDisk) {}
