/** Times of kernels, transfers and messages on a target, played on a timeline. */
package io.partita.passes.timing;
