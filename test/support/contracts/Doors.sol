// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Enumerable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Enumerable.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// A collection that lists the tokens of a wallet.
contract Listed is ERC721Enumerable {
    constructor() ERC721("Listed", "LIST") {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }
}

/// A collection that does not.
contract Unlisted is ERC721 {
    constructor() ERC721("Unlisted", "UNL") {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }
}

/// A collection that lists the first token of a wallet at each place.
contract Repeating is ERC721Enumerable {
    constructor() ERC721("Repeating", "REP") {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }

    function tokenOfOwnerByIndex(address owner, uint256) public view override returns (uint256) {
        return super.tokenOfOwnerByIndex(owner, 0);
    }
}

/// A currency without the optional functions of ERC-20.
contract PlainCoin {
    uint256 public constant totalSupply = 100;

    function balanceOf(address) external pure returns (uint256) {
        return 7;
    }
}

contract Editions is ERC1155 {
    constructor() ERC1155("") {}

    function mint(address to, uint256 id, uint256 amount) external {
        _mint(to, id, amount, "");
    }
}

/// An ERC-721 whose answers are longer than anybody reads.
contract HugeBadge {
    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x80ac58cd;
    }

    fallback() external {
        assembly {
            return(0, 1000000)
        }
    }
}

/// An ERC-721 whose answers never end.
contract EndlessBadge {
    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x80ac58cd;
    }

    function balanceOf(address) external pure returns (uint256 sum) {
        while (true) sum += 1;
    }
}

/// An ERC-721 that always fails.
contract RevertingBadge {
    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x80ac58cd;
    }

    function balanceOf(address) external pure returns (uint256) {
        revert("Wallet is eligible");
    }
}

/// A wallet with an owner. It says so as ERC-1271 wants it, also as the code of an account that delegates to it (EIP-7702).
contract DoorWallet {
    address public owner;

    receive() external payable {}

    function setOwner(address to) external {
        require(owner == address(0), "has an owner");
        owner = to;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address signer, , ) = ECDSA.tryRecover(hash, signature);
        return signer != address(0) && signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// Deploys wallets at addresses that are known before.
contract DoorWallets {
    function addressOf(address owner) public view returns (address) {
        bytes32 code = keccak256(type(DoorWallet).creationCode);
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), this, salt(owner), code)))));
    }

    function make(address owner) external returns (address) {
        DoorWallet wallet = new DoorWallet{salt: salt(owner)}();
        wallet.setOwner(owner);
        return address(wallet);
    }

    function salt(address owner) private pure returns (bytes32) {
        return bytes32(uint256(uint160(owner)));
    }
}
