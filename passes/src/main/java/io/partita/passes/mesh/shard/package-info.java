/**
 * Distribution of models over devices: strategies pin the layouts of some values, and propagation
 * derives the others.
 */
package io.partita.passes.mesh.shard;
