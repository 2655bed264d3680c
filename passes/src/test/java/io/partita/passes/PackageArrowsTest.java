package io.partita.passes;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Checks dependencies between packages: stages use only earlier ones, and there are no cycles. */
class PackageArrowsTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.partita.ir", "io.partita.passes");

  @Test
  void passesUseEarlierStagesOnly() {
    layeredArchitecture()
        .consideringOnlyDependenciesInAnyPackage("io.partita.passes..")
        .layer("passes")
        .definedBy("io.partita.passes")
        .layer("rewrite")
        .definedBy("io.partita.passes.rewrite..")
        .layer("timing")
        .definedBy("io.partita.passes.timing..")
        .layer("graph")
        .definedBy("io.partita.passes.graph..")
        .layer("mesh")
        .definedBy("io.partita.passes.mesh..")
        .layer("program")
        .definedBy("io.partita.passes.program..")
        .layer("schedule")
        .definedBy("io.partita.passes.schedule..")
        .layer("planning")
        .definedBy("io.partita.passes.planning..")
        .whereLayer("passes")
        .mayNotAccessAnyLayer()
        .whereLayer("rewrite")
        .mayOnlyAccessLayers("passes")
        .whereLayer("timing")
        .mayOnlyAccessLayers("passes")
        .whereLayer("graph")
        .mayOnlyAccessLayers("passes", "rewrite")
        .whereLayer("mesh")
        .mayOnlyAccessLayers("passes", "rewrite", "graph")
        .whereLayer("program")
        .mayOnlyAccessLayers("passes", "rewrite", "graph", "mesh")
        .whereLayer("schedule")
        .mayOnlyAccessLayers("passes", "rewrite", "timing", "graph", "mesh", "program")
        .check(CLASSES);
  }

  @Test
  void irPackagesHaveNoCycles() {
    slices().matching("io.partita.ir.(*)..").should().beFreeOfCycles().check(CLASSES);
  }
}
