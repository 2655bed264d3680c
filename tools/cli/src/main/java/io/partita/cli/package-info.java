/** The {@code partita} command: one class per subcommand. */
package io.partita.cli;
