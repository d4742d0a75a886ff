export type { NewPet, Pet, PetStatus } from '../contract/entities.js'
