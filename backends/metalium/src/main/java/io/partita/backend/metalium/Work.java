package io.partita.backend.metalium;

/** What a chip does at one time: kernels of its own, or its part in an exchange between chips. */
sealed interface Work permits Step, ExchangePart {}
