/** What kernels, transfers and messages take on a target, and when each of them happens. */
package io.partita.passes.timing;
