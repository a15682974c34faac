import { join } from 'node:path'

const clis = join(import.meta.dirname, 'clis')
const clients = join(import.meta.dirname, 'clients', 'node_modules')

/** A system prompt is long, differs from version to version, and is no part of what a dialect reads. */
const withoutSystemPrompt = (line: string) =>
  line.startsWith('{') && line.includes('"role":"system"')
    ? JSON.stringify(JSON.parse(line, (key, value) => (/^(?:sections|toolsAdded)$/.test(key) ? undefined : value)))
    : line

/** Takes out what differs from run to run or names this machine, so that a recording only changes when a CLI does. */
export function normaliser(root: string): (text: string) => string {
  const ids = new Map<string, string>()
  const id = (uuid: string) => {
    const known = ids.get(uuid) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(uuid, known)
    return known
  }
  return (text) =>
    text
      .replaceAll(/^.*$/gm, withoutSystemPrompt)
      .replaceAll(root, '/rig')
      // Claude and Codex make names of paths.
      .replaceAll(root.replaceAll(/[^a-zA-Z0-9]/g, '-'), '-rig')
      .replaceAll(clis, '/clis')
      .replaceAll(clients, '/clients')
      .replaceAll(/(?<![0-9a-zA-Z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, id)
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1')
      .replaceAll(/\b(localPort|remotePort|bytesWritten|bytesRead): \d+/g, '$1: 1')
      .replaceAll(/\b20\d\d-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d{3,6}Z/g, '2026-11-15T12:00:00.000Z')
      .replaceAll(/cc-socks\/\d+\.sock/g, 'cc-socks/1.sock')
      .replaceAll(/_\d{13}_(\d+)/g, '_1794744000000_$1')
      .replaceAll(/"(created|updated|recency|started|completed)At":\d+/g, '"$1At":1794744000')
      .replaceAll(/"timestamp":\d{13}/g, '"timestamp":1794744000000')
      .replaceAll(/"processId":"\d+"/g, '"processId":"1"')
      .replaceAll(/"(\w+_ms|\w+Ms|ms)":\d+(?:\.\d+)?/g, '"$1":1')
}
