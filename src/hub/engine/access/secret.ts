import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A new secret. The prefix lets a secret be recognized, and masked, wherever it turns up. */
export const newSecret = () => `tmk_${randomBytes(32).toString('base64url')}`

/** A secret has 256 random bits, so that one round of SHA-256 is enough. */
export const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex')

/** Compares two hashes in a time that is the same for every pair. */
export const isSameHash = (a: string, b: string) => timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'))
