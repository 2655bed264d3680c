package io.partita.zoo;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The files that were written.
 *
 * @param model the ONNX file
 * @param data the file of its external data
 * @param parameters the number of learned parameters written
 * @param modelBytes the length of the ONNX file
 * @param dataBytes the length of the data file, including holes; 0 without one
 * @param bytesOnDisk the approximate disk usage of both files
 */
public record ZooFile(
    Path model,
    Optional<Path> data,
    long parameters,
    long modelBytes,
    long dataBytes,
    long bytesOnDisk) {}
