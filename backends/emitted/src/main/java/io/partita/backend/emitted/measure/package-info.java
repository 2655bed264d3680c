/** The measured and predicted figures of runs of emitted C. */
package io.partita.backend.emitted.measure;
