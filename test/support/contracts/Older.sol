// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IERC4906} from "@openzeppelin/contracts/interfaces/IERC4906.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// Our NFT contract as older releases deployed it: only its admin reports changed metadata. It has the same storage.
contract Older is ERC721, AccessControl, IERC4906 {
    constructor() ERC721("", "") {}

    function mintBatch(address[] calldata to, uint256[] calldata ids) external onlyRole(keccak256("MINTER_ROLE")) {
        for (uint256 i = 0; i < ids.length; ++i) {
            if (_ownerOf(ids[i]) == address(0)) _mint(to[i], ids[i]);
        }
    }

    function refreshMetadata(uint256 fromId, uint256 toId) external onlyRole(DEFAULT_ADMIN_ROLE) {
        emit BatchMetadataUpdate(fromId, toId);
    }

    function supportsInterface(bytes4 id) public view override(ERC721, AccessControl, IERC165) returns (bool) {
        return super.supportsInterface(id);
    }
}
