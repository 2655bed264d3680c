package io.partita.cli;

import java.awt.Color;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;

/** Compares screenshots coarsely, since fonts differ between computers. */
final class Picture {
  private static final int BLOCK = 40;
  private static final double NEAR = 30;

  private Picture() {}

  /**
   * Returns the share of blocks of {@value #BLOCK} x {@value #BLOCK} pixels whose mean colours
   * differ; 1 if the pictures have different sizes.
   */
  static double difference(Path one, Path other) throws IOException {
    BufferedImage left = ImageIO.read(one.toFile());
    BufferedImage right = ImageIO.read(other.toFile());
    if (left.getWidth() != right.getWidth() || left.getHeight() != right.getHeight()) {
      return 1;
    }
    int blocks = 0;
    int differing = 0;
    for (int y = 0; y + BLOCK <= left.getHeight(); y += BLOCK) {
      for (int x = 0; x + BLOCK <= left.getWidth(); x += BLOCK) {
        double[] a = mean(left, x, y);
        double[] b = mean(right, x, y);
        double apart = 0;
        for (int i = 0; i < a.length; i++) {
          apart = Math.max(apart, Math.abs(a[i] - b[i]));
        }
        blocks++;
        differing += apart > NEAR ? 1 : 0;
      }
    }
    return (double) differing / blocks;
  }

  /** Compares with a committed picture, or writes that with {@code -Dgolden.update=true}. */
  static double differenceToGolden(Path picture, Path golden) throws IOException {
    if (Boolean.getBoolean("golden.update")) {
      Files.createDirectories(golden.getParent());
      Files.write(golden, Files.readAllBytes(picture));
    }
    return difference(picture, golden);
  }

  private static double[] mean(BufferedImage image, int left, int top) {
    double[] mean = new double[3];
    for (int y = top; y < top + BLOCK; y++) {
      for (int x = left; x < left + BLOCK; x++) {
        Color color = new Color(image.getRGB(x, y));
        mean[0] += color.getRed();
        mean[1] += color.getGreen();
        mean[2] += color.getBlue();
      }
    }
    for (int i = 0; i < mean.length; i++) {
      mean[i] /= BLOCK * BLOCK;
    }
    return mean;
  }
}
