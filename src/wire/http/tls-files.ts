import type { Clock } from '../../base/time/clock.ts'
import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { messageOf } from '../../base/error-message.ts'

type TlsPair = { cert: string; key: string }
type Known = TlsPair & { certificate: X509Certificate; stamp: string }

/** How often the files are checked. A program that renews certificates has hours to do so. */
const lookMs = 10_000

/** The certificate and the private key of a server, in two files that another program may renew at any time. */
export class TlsFiles {
  #paths: TlsPair
  #known: Known
  #failed = ''

  /** Reads both files; throws an error that says what is wrong with them and how to fix it. */
  constructor(paths: TlsPair) {
    this.#paths = paths
    this.#known = readPair(paths)
  }

  get pair(): TlsPair {
    return { cert: this.#known.cert, key: this.#known.key }
  }

  /** Whether the certificate covers this host name or IP address, written as in a URL. */
  names(hostname: string): boolean {
    const address = hostname.replace(/^\[(.*)\]$/, '$1')
    const { certificate } = this.#known
    return (isIP(address) === 0 ? certificate.checkHost(hostname) : certificate.checkIP(address)) !== undefined
  }

  /** A name from the certificate that clients can use; undefined if it only has wildcard names. */
  firstName(): string | undefined {
    const names = [...(this.#known.certificate.subjectAltName ?? '').matchAll(/(?:DNS|IP Address):([^,\s]+)/g)]
    return names.map(([, name]) => name!).find((name) => !name.includes('*'))
  }

  /**
   * Calls `renewed` whenever the files contain a new pair, until the signal aborts. An unusable pair is reported once, and the previous
   * one stays in use.
   */
  async follow(clock: Clock, signal: AbortSignal, renewed: () => void, tell: (words: string) => void): Promise<void> {
    for (;;) {
      await clock.sleep(lookMs, signal)
      if (signal.aborted) return
      try {
        if (stampOf(this.#paths) === this.#known.stamp) continue
        this.#known = readPair(this.#paths)
        this.#failed = ''
        renewed()
      } catch (error) {
        const words = messageOf(error)
        // The two files are written one after the other, so they may not match for a moment.
        if (words !== this.#failed)
          tell(`the renewed certificate cannot be used, the previous one stays in use: ${words}`)
        this.#failed = words
      }
    }
  }
}

function stampOf({ cert, key }: TlsPair): string {
  return [cert, key]
    .map((path) => statSync(path))
    .map((stat) => `${stat.ino} ${stat.size} ${stat.mtimeMs}`)
    .join(', ')
}

function readPair(paths: TlsPair): Known {
  // The times are read before the files, so that the next check finds a change made in the meantime.
  const stamp = nameErrors('--tls-cert or --tls-key', () => stampOf(paths))
  const mode = statSync(paths.key).mode & 0o777
  if ((mode & 0o027) !== 0)
    throw new Error(
      `--tls-key: other users can read or change ${paths.key} (mode ${mode.toString(8)}). Allow only its owner to: chmod 600 ${paths.key}`,
    )
  const [cert, key] = [
    nameErrors('--tls-cert', () => readFileSync(paths.cert, 'utf8')),
    nameErrors('--tls-key', () => readFileSync(paths.key, 'utf8')),
  ]
  const certificate = nameErrors(`--tls-cert: ${paths.cert} holds no certificate`, () => new X509Certificate(cert))
  const secret = nameErrors(`--tls-key: ${paths.key} holds no private key without a password`, () =>
    createPrivateKey(key),
  )
  if (!certificate.checkPrivateKey(secret))
    throw new Error(`--tls-key: the key in ${paths.key} does not belong to the certificate in ${paths.cert}`)
  return { cert, key, certificate, stamp }
}

/** Runs work whose errors begin with the name of the file that was read. */
function nameErrors<T>(name: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Error(`${name}: ${messageOf(error)}`, { cause: error })
  }
}
