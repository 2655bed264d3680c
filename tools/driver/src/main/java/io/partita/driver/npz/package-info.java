/** NumPy archives: {@code .npz} files of {@code .npy} arrays. */
package io.partita.driver.npz;
