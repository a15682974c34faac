import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Why tests with certificates do not run; false where openssl is installed. */
export const withoutOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return false
  } catch {
    return 'openssl is not installed'
  }
})()

/** An authority of our own that signs certificates for made-up hosts, in a folder that is removed after the test. */
export function authority(t: { after(work: () => void): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-tls-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string) => join(folder, name)
  const run = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  run('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=made-up authority')
  let made = 0
  return {
    folder,
    ca: readFileSync(at('ca.pem'), 'utf8'),
    /** Writes a certificate for these names, and its key, into hub.pem and hub-key.pem. */
    issue(names: string) {
      writeFileSync(at('names'), `subjectAltName=${names}\n`)
      run('req', ...newKey, '-keyout', 'next.key', '-out', 'next.csr', '-subj', `/CN=hub ${++made}`)
      const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names']
      run('x509', '-req', '-in', 'next.csr', '-out', 'next.pem', ...signed)
      writeFileSync(at('hub.pem'), readFileSync(at('next.pem')))
      writeFileSync(at('hub-key.pem'), readFileSync(at('next.key')), { mode: 0o600 })
      chmodSync(at('hub-key.pem'), 0o600)
      return { cert: at('hub.pem'), key: at('hub-key.pem') }
    },
  }
}
