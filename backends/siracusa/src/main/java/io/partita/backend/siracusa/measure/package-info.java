/** What a run of emitted C took, beside what it should take. */
package io.partita.backend.siracusa.measure;
