/**
 * How a model lies on devices: strategies say how some values are split, propagation says the rest.
 */
package io.partita.passes.mesh.shard;
