/* Of all lives. */

export const chainId = 31337n;
export const chainText = chainId.toString();
export const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
export const admin = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
export const confirmations = 2;
export const finalityDepth = 4;
export const blockMs = 8_000;
export const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
