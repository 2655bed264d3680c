/** Target descriptions: chips, memories and links, and the source of each figure. */
package io.partita.ir.target;
