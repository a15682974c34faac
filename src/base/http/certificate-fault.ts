/** The message for each error code of a certificate, with advice on what to do. */
const faults: Readonly<Record<string, (host: string) => string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: () =>
    `its certificate is self-signed, and no authority that this machine trusts vouches for it. ${trust}`,
  SELF_SIGNED_CERT_IN_CHAIN: () =>
    `its certificate was made by an authority that this machine does not trust. ${trust}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () =>
    `its certificate was made by an authority that this machine does not know. ${trust}`,
  UNABLE_TO_GET_ISSUER_CERT: () => `the certificate of an authority in its chain is missing. ${trust}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () =>
    `it does not send the certificates between its own and the authority, or this machine does not know the authority. Let the server send its whole chain. ${trust}`,
  CERT_HAS_EXPIRED: () =>
    'its certificate has expired. Renew it on the server. If it is new, check the clock of this machine.',
  CERT_NOT_YET_VALID: () => 'its certificate is not valid yet. Check the clocks of both machines.',
  CERT_REVOKED: () => 'its certificate was revoked. Get a new one for the server.',
  ERR_TLS_CERT_ALTNAME_INVALID: (host) =>
    `its certificate is for names other than ${host}. Use one of those names in the address, or get a certificate that has ${host}.`,
  CERT_SIGNATURE_FAILURE: () => `its certificate was not made by the authority that it names. ${trust}`,
}

const trust =
  'Give this machine the certificate of the authority, as a PEM file: --ca <file>, or the variable NODE_EXTRA_CA_CERTS.'

type Fault = Error & { code?: unknown }

/** Whether the server answered with something other than TLS. If a request fails while it is being written, only the message says so. */
const isNoTls = ({ code, message }: Fault) =>
  code === 'ERR_SSL_WRONG_VERSION_NUMBER' ||
  code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG' ||
  (code === 'EPROTO' && /wrong version number|packet length too long/.test(message))

/** Explains why the certificate of a server was refused; undefined if a request failed for another reason. */
export function certificateFault(error: unknown, url: string): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as Fault
    const words = typeof code === 'string' ? faults[code] : undefined
    if (words) return words(URL.parse(url)?.host ?? url)
    // A server that does not speak TLS at this port, such as a hub without a proxy.
    if (isNoTls(at))
      return 'it does not speak TLS at this port. Check the port, or use http:// on the machine of the hub itself.'
  }
  return undefined
}
