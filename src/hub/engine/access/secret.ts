import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A new secret. The prefix makes a secret recognizable wherever it turns up, so that it can be masked. */
export const newSecret = () => `tmk_${randomBytes(32).toString('base64url')}`

/** A secret has 256 random bits, so one round of SHA-256 is enough. */
export const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex')

/** Compares two hashes in constant time. */
export const isSameHash = (a: string, b: string) => timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'))
