// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IERC165} from "@openzeppelin/contracts/interfaces/IERC165.sol";
import {IERC4906} from "@openzeppelin/contracts/interfaces/IERC4906.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// @title NFTs of real-world assets
/// @notice One token for each accepted mint of the service. The upper bits of a token id are the number of
/// its asset, the lower 64 its serial, so assets of many companies live in one contract.
/// @dev There is no burn: a token that once existed has an owner for ever, so a second mint of its id is
/// always refused. Minters and the admin are apart: a hot minter key can be replaced, and can only mint and
/// report changed metadata.
contract TallystickNft is ERC721, AccessControl, IERC4906 {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");

    /// @dev IERC4906 declares no functions of its own, so its id is given by the standard.
    bytes4 private constant ERC4906_INTERFACE_ID = 0x49064906;

    string private _base;

    error LengthMismatch(uint256 recipients, uint256 ids);

    constructor(string memory name, string memory symbol, address admin) ERC721(name, symbol) {
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
    }

    /// @notice Mints one token. Fails when it exists already.
    function mint(address to, uint256 id) external onlyRole(MINTER_ROLE) {
        _mint(to, id);
    }

    /// @notice Mints tokens to their recipients. Those that exist already are passed over, so a batch can be
    /// sent again.
    /// @dev Receivers are not called: one that refuses or re-enters would decide over the whole batch.
    function mintBatch(address[] calldata to, uint256[] calldata ids) external onlyRole(MINTER_ROLE) {
        require(to.length == ids.length, LengthMismatch(to.length, ids.length));
        for (uint256 i = 0; i < ids.length; ++i) {
            if (_ownerOf(ids[i]) == address(0)) _mint(to[i], ids[i]);
        }
    }

    /// @notice Sets where metadata are read: the address of a token's metadata is this text and its id.
    function setBaseURI(string calldata base) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _base = base;
        emit BatchMetadataUpdate(0, type(uint256).max);
    }

    /// @notice Tells marketplaces to read the metadata of a range of tokens again (ERC-4906). It changes no state,
    /// so minters may do it, too.
    function refreshMetadata(uint256 fromId, uint256 toId) external {
        if (!hasRole(MINTER_ROLE, msg.sender)) _checkRole(DEFAULT_ADMIN_ROLE);
        if (fromId == toId) emit MetadataUpdate(fromId);
        else emit BatchMetadataUpdate(fromId, toId);
    }

    function supportsInterface(
        bytes4 interfaceId
    ) public view override(ERC721, AccessControl, IERC165) returns (bool) {
        return interfaceId == ERC4906_INTERFACE_ID || super.supportsInterface(interfaceId);
    }

    function _baseURI() internal view override returns (string memory) {
        return _base;
    }
}
