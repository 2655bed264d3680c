package io.partita.backend.java.runtime;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.util.Collections;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * The key that the processes of all devices have in common, in a PKCS #12 file. Connections are TLS
 * 1.3: each end shows the key's certificate and proves that it has the key, and takes no other.
 */
final class Credentials {
  private static final String PROTOCOL = "TLSv1.3";

  /** It protects nothing: who has the file has the key. */
  private static final String PASSWORD = "partita";

  private final SSLSocketFactory sockets;

  /**
   * Reads a key.
   *
   * @throws IOException when there is none in the file
   */
  Credentials(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      KeyStore keys = KeyStore.getInstance("PKCS12");
      keys.load(in, PASSWORD.toCharArray());
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      for (String alias : Collections.list(keys.aliases())) {
        trusted.setCertificateEntry(alias, keys.getCertificate(alias));
      }
      KeyManagerFactory own =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      own.init(keys, PASSWORD.toCharArray());
      TrustManagerFactory others =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      others.init(trusted);
      SSLContext context = SSLContext.getInstance(PROTOCOL);
      context.init(own.getKeyManagers(), others.getTrustManagers(), null);
      sockets = context.getSocketFactory();
    } catch (GeneralSecurityException wrong) {
      throw new IOException(file + " is no key of devices: " + wrong.getMessage(), wrong);
    }
  }

  /** The same connection, encrypted, with somebody who has the key. */
  SSLSocket secured(Socket socket, boolean isCaller) throws IOException {
    String host = socket.getInetAddress().getHostAddress();
    SSLSocket secured = (SSLSocket) sockets.createSocket(socket, host, socket.getPort(), true);
    secured.setEnabledProtocols(new String[] {PROTOCOL});
    secured.setUseClientMode(isCaller);
    secured.setNeedClientAuth(true);
    secured.startHandshake();
    return secured;
  }

  /** Whether a connection failed as the other end has another key. */
  static boolean isOtherKey(IOException failure) {
    return failure instanceof SSLException
        && (failure.getCause() instanceof CertificateException
            || String.valueOf(failure.getMessage()).contains("certificate"));
  }
}
