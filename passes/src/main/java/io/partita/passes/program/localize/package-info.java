/** From the mesh dialect to the program dialect: what each device does, and the messages. */
package io.partita.passes.program.localize;
